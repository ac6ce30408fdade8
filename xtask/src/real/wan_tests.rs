//! Figures are taken from the members of just that name.

use super::figures;

#[test]
fn members_of_other_names_and_their_lists_do_not_count() {
    let json =
        "[{\n  \"gbit_s\": 0.0275,\n  \"gbit_s_spread\": [\n 1.0 ],\n \"a\": 1 }, { \"gbit_s\": 1e-5}]";
    assert_eq!(figures(json, "gbit_s"), Ok(vec![0.0275, 1e-5]));
    assert_eq!(figures(json, "gbit"), Ok(Vec::new()));
}

#[test]
fn what_is_no_number_is_told() {
    assert_eq!(figures("{\"x\": null}", "x"), Err("x is `null`".to_owned()));
}
