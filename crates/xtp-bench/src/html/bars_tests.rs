//! Bars: one giant does not press the others into nothing.

use super::*;

#[test]
fn one_value_far_above_the_others_is_broken() {
    assert_eq!(limit(&[8.5, 9.0, 29.0, 36.0, 715.0]), 54.0);
    // Half of the values far above the other half: that is no giant.
    assert_eq!(limit(&[6.0, 7.0, 40.0, 43.0]), 43.0);
    assert_eq!(limit(&[5.0]), 5.0);
    assert_eq!(limit(&[]), 1.0);
    assert_eq!(limit(&[0.0, 0.0, 0.0]), 1.0);
}

#[test]
fn columns_without_figures_are_left_out() {
    let column = |label: &str| Column {
        label: label.to_owned(),
        share: 1.0,
    };
    let value = Value {
        value: 3.0,
        spread: Some([2.0, 4.0]),
        note: "1.5×".to_owned(),
    };
    let row = BarRow {
        label: "xtp".to_owned(),
        class: "c-xtp".to_owned(),
        values: vec![None, Some(value)],
    };
    let columns = [column("nowhere"), column("somewhere")];
    let drawn = draw("bars", &columns, std::slice::from_ref(&row))
        .expect("a picture")
        .to_string();
    assert!(drawn.contains("somewhere") && !drawn.contains("nowhere"));
    let empty = BarRow {
        values: vec![None, None],
        ..row
    };
    assert_eq!(draw("bars", &columns, &[empty]), None);
}

#[test]
fn equal_figures_are_equally_long_where_columns_are_alike() {
    let value = |value| {
        Some(Value {
            value,
            spread: None,
            note: String::new(),
        })
    };
    let row = |label: &str, values| BarRow {
        label: label.to_owned(),
        class: "c-xtp".to_owned(),
        values,
    };
    let rows = [
        row("one", vec![value(2.0), value(2.0)]),
        row("two", vec![value(4.0), value(2.0)]),
    ];
    let column = |label: &str| Column {
        label: label.to_owned(),
        share: 1.0,
    };
    let columns = [column("then"), column("now")];
    let lengths = |drawn: Option<Element>| {
        let page = drawn.expect("a picture").to_string();
        let widths = page
            .split(" width=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().expect("a width").to_owned());
        widths.collect::<Vec<String>>()
    };
    let alike = lengths(draw_alike("alike", &columns, &rows));
    assert_eq!(alike.len(), 4);
    assert_eq!((&alike[0], &alike[2]), (&alike[3], &alike[3]), "{alike:?}");
    let own = lengths(draw("own", &columns, &rows));
    assert_ne!(own[0], own[3], "{own:?}");
}
