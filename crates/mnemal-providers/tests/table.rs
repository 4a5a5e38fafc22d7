//! Damaged tables, and tables with wrong data under a valid checksum.

#![expect(clippy::indexing_slicing, reason = "the layout of a file that the test itself makes")]

use mnemal_core::{Embedder, ErrorKind, ModelId, Result};
use mnemal_providers::{STATIC_FLOOR, StaticEmbedder};
use proptest::prelude::*;

const BUILT_IN: &[u8] = include_bytes!("../data/mnemal-static-1.bin");

fn open(bytes: Vec<u8>) -> Result<StaticEmbedder> {
    StaticEmbedder::from_bytes(ModelId::new("test").expect("a valid name"), 0.5, bytes)
}

/// Spelling, scale and row of each piece; lays them out as the format says, four hash slots a piece.
fn small_table() -> Vec<u8> {
    let pieces: [(&str, f32, [i8; 2]); 5] = [
        ("sun", 0.01, [100, 0]),
        ("moon", 0.01, [80, 60]),
        ("##light", 0.01, [0, 100]),
        ("the", 0.0, [0, 0]),
        ("ж", 0.01, [1, 1]),
    ];
    let text: String = pieces.iter().map(|(spelling, ..)| *spelling).collect();
    let mut slots = [0_u32; 16];
    let mut offsets = vec![0_u32];
    for (piece, (spelling, ..)) in (0_u32..).zip(&pieces) {
        offsets.push(offsets[piece as usize] + small(spelling.len()));
        let mut hash = 0x811C_9DC5_u32;
        for byte in spelling.bytes() {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
        let mut at = (hash ^ (hash >> 15)) as usize % slots.len();
        while slots[at] != 0 {
            at = (at + 1) % slots.len();
        }
        slots[at] = piece + 1;
    }
    let mut bytes = b"MNEMTABL\x01\0\x02\0".to_vec();
    for number in [5, 1, 16, small(text.len()), 5] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([0; 32]);
    bytes.extend(pieces.iter().flat_map(|(_, scale, _)| scale.to_le_bytes()));
    bytes.extend(pieces.iter().flat_map(|(.., row)| row.map(i8::cast_unsigned)));
    bytes.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    bytes.extend(text.as_bytes());
    bytes.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    seal(&mut bytes);
    bytes
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a small number")
}

/// Makes the checksum match whatever the bytes say.
fn seal(bytes: &mut [u8]) {
    let hash = blake3::Hasher::new().update(&bytes[..32]).update(&bytes[64..]).finalize();
    bytes[32..64].copy_from_slice(hash.as_bytes());
}

#[test]
fn the_table_that_is_compiled_in_is_whole() {
    let checked = open(BUILT_IN.to_vec()).unwrap();
    let built_in = StaticEmbedder::built_in();
    assert!(format!("{built_in:?}").contains("version: 1"));
    let text = "I moved to Lisbon last spring.";
    assert_eq!(checked.embed_one(text), built_in.embed_one(text));
}

#[test]
fn another_table_embeds_by_its_own_rows() {
    let embedder = open(small_table()).unwrap();
    assert_eq!(embedder.dimensions(), 2);
    assert_eq!(embedder.pieces("the Sunlight moon"), [Some(3), Some(0), Some(2), Some(1)]);
    assert_eq!(embedder.embed_one("the sun"), Some(vec![1.0, 0.0]));
    let light = embedder.embed_one("sunlight").unwrap();
    assert!((light[0] - light[1]).abs() < 1e-6 && (light[0] - 0.5_f32.sqrt()).abs() < 1e-6);
    assert_eq!(embedder.embed_one("the the"), None);
    assert_eq!(embedder.embed_one("ж ж sun"), None);
}

#[test]
fn a_floor_that_is_no_cosine_is_refused() {
    for floor in [f32::NAN, 1.5, -2.0] {
        let error =
            StaticEmbedder::from_bytes(ModelId::new("test").unwrap(), floor, small_table()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    assert!((-1.0..=1.0).contains(&STATIC_FLOOR));
}

#[test]
fn every_single_damaged_byte_is_noticed() {
    let whole = small_table();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        assert_eq!(open(damaged).unwrap_err().kind(), ErrorKind::Corrupt, "byte {at}");
    }
    for length in 0..whole.len() {
        assert_eq!(open(whole[..length].to_vec()).unwrap_err().kind(), ErrorKind::Corrupt, "{length} bytes");
    }
}

#[test]
fn damage_inside_the_large_table_is_noticed() {
    let mut damaged = BUILT_IN.to_vec();
    damaged[3_000_000] ^= 1;
    assert_eq!(open(damaged).unwrap_err().kind(), ErrorKind::Corrupt);
}

proptest! {
    #[test]
    fn a_table_that_lies_under_a_valid_checksum_never_panics(
        changes in prop::collection::vec((0_usize..400, any::<u8>()), 1..6),
        text in "(sun|moon|light|the|ж| ){0,12}",
    ) {
        let mut bytes = small_table();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        seal(&mut bytes);
        if let Ok(embedder) = open(bytes) {
            for value in embedder.embed_one(&text).into_iter().flatten() {
                prop_assert!(value.is_finite());
            }
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_table(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(open(bytes).is_err());
    }
}
