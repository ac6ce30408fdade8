//! Octets, symbols and blocks, against counting; and rows that contradict what was agreed on.

use proptest::prelude::*;

use super::*;

const AGREED: FecAgreement = FecAgreement {
    scheme: Parity::SCHEME_BYTES,
    k: 4,
    pmax: 5,
    symbol_len: 16,
    origin: 100,
};

fn layout() -> BlockLayout {
    BlockLayout::new(&AGREED, 1440, 1 << 20).unwrap()
}

fn parity(k: u16, row: u16, end: u64) -> Parity<'static> {
    Parity {
        k,
        row,
        symbol_len: 16,
        scheme: Parity::SCHEME_BYTES,
        flags: 0,
        end,
        symbol: &[0; 24],
    }
}

#[test]
fn codes_that_are_not_used() {
    let refused = |agreement: FecAgreement| BlockLayout::new(&agreement, 1440, 1 << 20).err();
    assert_eq!(refused(AGREED), None);
    assert_eq!(
        refused(FecAgreement { k: 0, ..AGREED }),
        Some(LayoutError::NoCode)
    );
    let wide = FecAgreement { scheme: 2, ..AGREED };
    assert_eq!(refused(wide), Some(LayoutError::Scheme(2)));
    assert_eq!(
        refused(FecAgreement { pmax: 3, ..AGREED }),
        Some(LayoutError::TooFewRows)
    );
    let late = FecAgreement {
        origin: 1 << 62,
        ..AGREED
    };
    assert_eq!(refused(late), Some(LayoutError::Origin));
    assert_eq!(
        BlockLayout::new(&AGREED, 39, 1 << 20),
        Err(LayoutError::NoCode),
        "16 + 24 do not fit"
    );
    assert_eq!(
        BlockLayout::new(&AGREED, 40, 128).map(|layout| layout.block_len()),
        Ok(64)
    );
    assert_eq!(
        BlockLayout::new(&AGREED, 40, 127),
        Err(LayoutError::Window),
        "two blocks of 64"
    );
}

#[test]
fn every_octet_of_some_blocks() {
    let layout = layout();
    assert_eq!(layout.place(99), None);
    let mut position = 100;
    for block in 0..3 {
        assert_eq!(layout.start(block), position);
        for symbol in 0..4 {
            for offset in 0..16 {
                let place = SymbolPlace {
                    block,
                    symbol,
                    offset,
                };
                assert_eq!(layout.place(position), Some(place));
                assert_eq!(layout.room_at(position), 16 - offset);
                position += 1;
            }
        }
    }
    assert_eq!(
        (layout.room_at(99), layout.rows(), layout.symbol_len()),
        (0, 5, 16)
    );
}

#[test]
fn blocks_are_counted_in_32_bits() {
    let layout = layout();
    let last = layout.start(u32::MAX) + 63;
    assert_eq!(layout.place(last).map(|place| place.block), Some(u32::MAX));
    assert_eq!(layout.place(last + 1), None);
    assert_eq!(layout.place(u64::MAX), None);
}

#[test]
fn symbols_begun() {
    let layout = layout();
    for (end, symbols) in [
        (0, 0),
        (164, 0),
        (165, 1),
        (180, 1),
        (181, 2),
        (227, 4),
        (228, 4),
        (1000, 4),
    ] {
        assert_eq!(layout.symbols_until(1, end), symbols, "{end}");
    }
}

#[test]
fn rows_of_the_agreed_code() {
    let layout = layout();
    let place = |block, symbols, row, end| RowPlace {
        block,
        symbols,
        row,
        end,
    };
    assert_eq!(layout.row(100, &parity(4, 0, 164)), Ok(place(0, 4, 0, 164)));
    assert_eq!(layout.row(164, &parity(4, 4, 228)), Ok(place(1, 4, 4, 228)));
    assert_eq!(
        layout.row(164, &parity(2, 1, 190)),
        Ok(place(1, 2, 1, 190)),
        "the last, short one"
    );
    assert_eq!(
        layout.row(164, &parity(4, 1, 213)),
        Ok(place(1, 4, 1, 213)),
        "all symbols, the last one short"
    );
}

#[test]
fn rows_that_contradict() {
    let layout = layout();
    let other = [
        Parity {
            scheme: 2,
            ..parity(4, 0, 164)
        },
        Parity {
            symbol_len: 18,
            ..parity(4, 0, 164)
        },
        parity(4, 5, 164),
        parity(4, 256, 164),
    ];
    for parity in other {
        assert_eq!(
            layout.row(100, &parity),
            Err(LayoutError::OtherCode),
            "{parity:?}"
        );
    }
    for seq in [0, 99, 101, 116, 163, layout.start(u32::MAX) + 64] {
        assert_eq!(
            layout.row(seq, &parity(4, 0, 164)),
            Err(LayoutError::NoBlock),
            "{seq}"
        );
    }
    let ends = [
        (4, 165),
        (4, 148),
        (4, 100),
        (4, 0),
        (4, u64::MAX),
        (5, 164),
        (256 + 4, 164),
        (3, 164),
        (1, 117),
        (0, 100),
    ];
    for (symbols, end) in ends {
        let contradiction = layout.row(100, &parity(symbols, 0, end));
        assert_eq!(
            contradiction,
            Err(LayoutError::End),
            "{symbols} symbols until {end}"
        );
    }
}

proptest! {
    /// A position and its place are the same thing, whatever the code.
    #[test]
    fn there_and_back(k in 1_u16..=128, half_len in 1_u16..700, origin in 0..1_u64 << 62, into in 0..1_u64 << 40) {
        let agreement = FecAgreement { scheme: 1, k, pmax: 128, symbol_len: 2 * half_len, origin };
        let layout = BlockLayout::new(&agreement, 1440, u64::MAX).unwrap();
        match layout.place(origin + into) {
            Some(place) => {
                let symbol = u64::from(place.symbol) * u64::from(layout.symbol_len());
                prop_assert_eq!(layout.start(place.block) + symbol + u64::from(place.offset), origin + into);
                prop_assert!(u16::from(place.symbol) < k && place.offset < layout.symbol_len());
                prop_assert_eq!(layout.symbols_until(place.block, origin + into + 1), place.symbol + 1);
            }
            None => prop_assert!(into / layout.block_len() > u64::from(u32::MAX)),
        }
    }
}
