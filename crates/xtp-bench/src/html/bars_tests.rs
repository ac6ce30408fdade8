//! Bars: one giant does not press the others into nothing.

use super::*;

fn rows_of(values: &[f64]) -> Vec<BarRow> {
    let row = |value: &f64| BarRow {
        label: "x".to_owned(),
        class: "c-xtp".to_owned(),
        values: vec![Some(Value {
            value: *value,
            spread: None,
            note: String::new(),
        })],
    };
    values.iter().map(row).collect()
}

/// The numbers of an attribute, in the order of the picture.
fn numbers(picture: &Element, attribute: &str) -> Vec<f64> {
    let page = picture.to_string();
    let before = format!(" {attribute}=\"");
    page.split(&before)
        .skip(1)
        .filter_map(|rest| rest.split('"').next()?.parse().ok())
        .collect()
}

#[test]
fn a_bar_is_as_long_as_its_figure_and_none_is_cut() {
    let column = [Column {
        label: "us".to_owned(),
        share: 1.0,
    }];
    let drawn = draw("bars", &column, &rows_of(&[8.5, 36.0, 60.0])).expect("a picture");
    let widths = numbers(&drawn, "width");
    let ratio = widths[1] / widths[0];
    assert!((ratio / (36.0 / 8.5) - 1.0).abs() < 0.01, "{widths:?}");
    assert!(numbers(&drawn, "cx").is_empty());
}

/// Our name is drawn bold, 14 px high, and ends 10 px left of the bars.
#[test]
fn the_name_of_the_widest_row_is_not_cut() {
    let column = [Column {
        label: "us".to_owned(),
        share: 1.0,
    }];
    for label in ["xtp", "xtp-write-read"] {
        let mut rows = rows_of(&[13.1, 17.5]);
        rows[1].label = label.to_owned();
        let drawn = draw("bars", &column, &rows).expect("a picture");
        let bars_at = numbers(&drawn, "x1")[0];
        // 0.62 of its height is what a bold letter takes in DejaVu Sans.
        let begin = bars_at - 10.0 - 0.62 * 14.0 * label.len() as f64;
        assert!(begin >= 0.0, "{label} begins at {begin}");
    }
}

#[test]
fn figures_far_apart_are_dots_on_a_logarithmic_scale() {
    let column = [Column {
        label: "us".to_owned(),
        share: 1.0,
    }];
    let drawn = draw("bars", &column, &rows_of(&[7.0, 70.0, 700.0])).expect("a picture");
    let places = numbers(&drawn, "cx");
    assert!(
        (places[1] - places[0] - (places[2] - places[1])).abs() < 0.3,
        "{places:?}"
    );
    let text = drawn.to_string();
    assert!(
        text.contains("us (logarithmic)") && text.contains(">100</text>"),
        "{text}"
    );
    assert!(
        numbers(&drawn, "width").is_empty(),
        "no bar has a length that means nothing"
    );
}

#[test]
fn nothing_is_drawn_of_nothing_and_zero_is_no_place_on_a_logarithmic_scale() {
    assert!(!is_wide(&[]) && !is_wide(&[0.0, 900.0]) && !is_wide(&[5.0]));
    assert!(is_wide(&[1.0, 900.0]));
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
