//! Parts that are disjoint and all together.

use super::{Shard, fnv1a};

#[test]
fn parts_are_disjoint_and_all_together() {
    let names: Vec<String> = (0..100).map(|number| format!("mutant-{number}")).collect();
    let shards: Vec<Shard> = (0..8)
        .map(|index| Shard::parse(&format!("{index}/8")).unwrap())
        .collect();
    for name in &names {
        assert_eq!(
            shards.iter().filter(|shard| shard.contains(name)).count(),
            1,
            "{name}"
        );
    }
    for shard in &shards {
        assert!(names.iter().any(|name| shard.contains(name)), "{shard:?}");
    }
}

#[test]
fn the_hash_is_fnv_1a() {
    assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn a_part_is_below_the_number_of_parts() {
    assert!(Shard::parse("0/1").is_ok() && Shard::parse("7/8").is_ok());
    for word in ["", "3", "8/8", "0/0", "-1/8", "a/b", "1/2/3"] {
        assert!(Shard::parse(word).is_err(), "{word}");
    }
}
