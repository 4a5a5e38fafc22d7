//! Graph of near neighbors: the library behind a narrow interface, with its panics caught.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use hnsw_rs::anndists::dist::distances::Distance;
use hnsw_rs::hnsw::Hnsw;
use mnemal_core::Seq;
use multiversion::multiversion;

/// Connections of a point in each layer except the lowest, which has twice as many; the library aborts above 256.
///
/// Source: the usual `M` of HNSW, as measured.
const CONNECTIONS: usize = 16;
/// Search width at insertion. Source: the usual `ef_construction` of HNSW, as measured.
const BUILD_WIDTH: usize = 200;
/// Most layers. Source: the maximum of the library.
const LAYERS: usize = 16;
/// Distance of vectors that cannot be compared: farther than any real distance.
pub(super) const FAR: f32 = 2.0;

/// Bytes of the scale behind the codes of a point.
const SCALE: usize = size_of::<f32>();

/// Joins codes and scale to the form in which the graph holds a point.
pub(super) fn point(codes: impl IntoIterator<Item = i8>, scale: f32) -> Vec<i8> {
    codes.into_iter().chain(scale.to_le_bytes().map(u8::cast_signed)).collect()
}

/// Splits a point into codes and scale.
fn parts(point: &[i8]) -> Option<(&[i8], f32)> {
    let (codes, scale) = point.split_last_chunk::<SCALE>()?;
    Some((codes, f32::from_le_bytes(scale.map(i8::cast_unsigned))))
}

/// Dot product of two rows of codes.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+popcnt"))]
fn product(one: &[i8], other: &[i8]) -> i32 {
    let mut sum = 0;
    for (a, b) in one.iter().zip(other) {
        sum += i32::from(i16::from(*a) * i16::from(*b));
    }
    sum
}

/// `1 − cosine`, never negative and never NaN: the library panics on either.
pub(super) struct Clamped;

impl Distance<i8> for Clamped {
    fn eval(&self, one: &[i8], other: &[i8]) -> f32 {
        let (Some((one, scale)), Some((other, other_scale))) = (parts(one), parts(other)) else {
            return FAR;
        };
        let cosine = product(one, other) as f32 * scale * other_scale;
        if cosine.is_finite() && one.len() == other.len() { (1.0 - cosine).clamp(0.0, FAR) } else { FAR }
    }
}

/// Points that know their near neighbors, each under a log position. Inserting and searching at the same time is allowed.
///
/// When the library panics, the graph is dropped and finds nothing from then on; the process's panic hook is still called.
/// Dropping a graph makes the library start rayon's global threads.
pub(super) struct Graph {
    points: RwLock<Option<Hnsw<'static, i8, Clamped>>>,
    held: AtomicUsize,
}

impl fmt::Debug for Graph {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Graph").field("held", &self.held()).finish_non_exhaustive()
    }
}

impl Graph {
    /// Makes an empty graph with room for some points; it takes more.
    pub(super) fn new(room: usize) -> Self {
        let points = guarded(|| Hnsw::new(CONNECTIONS, room, LAYERS, BUILD_WIDTH, Clamped));
        Self { points: RwLock::new(points), held: AtomicUsize::new(0) }
    }

    /// Returns the number of points.
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Acquire)
    }

    /// Adds a point; returns false if there is no graph any more.
    pub(super) fn insert(&self, seq: Seq, point: &[i8]) -> bool {
        let Ok(id) = usize::try_from(seq.0) else { return false };
        let inserted = {
            let points = self.points.read().unwrap_or_else(PoisonError::into_inner);
            let Some(points) = points.as_ref() else { return false };
            guarded(|| points.insert((point, id)))
        };
        if inserted.is_none() {
            self.let_go();
            return false;
        }
        self.held.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Returns the positions of the points nearest to another one, of as many as the search meets; `None` if there is no
    /// graph, or it fails.
    pub(super) fn nearest(&self, to: &[i8], limit: usize, width: usize) -> Option<Vec<Seq>> {
        let near = {
            let points = self.points.read().unwrap_or_else(PoisonError::into_inner);
            let points = points.as_ref()?;
            guarded(|| points.search(to, limit, width.max(limit)))
        };
        if near.is_none() {
            self.let_go();
        }
        Some(near?.iter().map(|near| Seq(near.d_id as u64)).collect())
    }

    /// Drops the points.
    pub(super) fn let_go(&self) {
        let points = self.points.write().unwrap_or_else(PoisonError::into_inner).take();
        // A panic during drop cannot be handled.
        let _gone = guarded(|| drop(points));
    }

    /// Whether it still finds something.
    pub(super) fn is_whole(&self) -> bool {
        self.points.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Runs library code; `None` if it panics.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
