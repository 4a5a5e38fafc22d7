//! Vector index: a question searches the rows with the same strongest value, and all rows where those are too few.

use std::{collections::HashMap, num::NonZeroUsize, sync::Arc, sync::atomic::AtomicUsize};

use mnemal::ports::{self, FlatIndex, QueryVector, RowSet, VectorIndex, VectorIndexBuilder};

#[derive(Clone, Debug, Default)] // the last field counts the searches
pub struct Buckets(FlatIndex, HashMap<u32, usize>, pub Arc<AtomicUsize>);

fn strongest(values: impl Iterator<Item = f32>) -> usize {
    values.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(place, _)| place)
}
impl ports::VectorIndexFactory for Buckets {
    fn builder(&self, _dimensions: usize) -> Box<dyn VectorIndexBuilder> {
        Box::new(self.clone())
    }
}
impl VectorIndexBuilder for Buckets {
    fn update(&mut self, rows: &FlatIndex, _most: NonZeroUsize) -> usize {
        let buckets = rows.vectors().map(|one| (one.row, strongest(one.codes.iter().map(|c| f32::from(*c)))));
        (self.0, self.1) = (rows.clone(), buckets.collect());
        0 // nothing is lacking
    }
    fn index(&self) -> Option<Arc<dyn VectorIndex>> {
        Some(Arc::new(self.clone()))
    }
}
impl VectorIndex for Buckets {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<ports::Neighbor> {
        self.2.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let bucket = strongest(query.values().iter().copied());
        let is_in = |row: u32| filter.has(row) && self.1.get(&row) == Some(&bucket);
        let rows = self.1.keys().max().map_or(0, |last| last + 1);
        let near = self.0.nearest(query, &RowSet::of(rows, is_in), limit);
        if near.len() < limit { self.0.nearest(query, filter, limit) } else { near }
    }
    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.0.cosine(query, row)
    }
}
