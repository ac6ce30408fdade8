//! Pictures as files: nothing in them needs a style sheet.

use super::*;
use crate::html::fixture;
use crate::html::page::page;

fn written(sheet: &str, picture: &Element) -> String {
    Sheet::parse(sheet).written(picture).to_string()
}

#[test]
fn rules_become_attributes_and_variables_their_values() {
    let sheet = ":root{--ink:#111}@media (x){:root{--ink:#eee}}.c-a{--c:#00f}.c-b{--c:#f00}.dot{fill:var(--c)}svg text{fill:var(--ink)}";
    let group = |class: &str| el("g").class(class).child(el("circle").class("dot"));
    let picture = el("svg")
        .child(group("c-a"))
        .child(group("c-b"))
        .child(el("text").text("t"));
    let text = written(sheet, &picture);
    assert!(text.contains("<g><circle fill=\"#00f\">"), "{text}");
    assert!(text.contains("<g><circle fill=\"#f00\">"), "{text}");
    assert!(text.contains("<text fill=\"#111\">"), "{text}");
}

#[test]
fn more_classes_win_then_the_later_rule_then_what_is_important() {
    let dot = |classes: &str| el("svg").child(el("g").class("c").child(el("path").class(classes)));
    let sheet = ".c .a{fill:one}.a{fill:two}.a{fill:three}";
    assert!(written(sheet, &dot("a")).contains("fill=\"one\""));
    assert!(written(".a{fill:two}.a{fill:three}", &dot("a")).contains("fill=\"three\""));
    let sheet = ".b{fill:four!important}.c .a{fill:one}";
    assert!(written(sheet, &dot("a b")).contains("fill=\"four\""));
    // It is within, and nothing else, whatever lies between.
    assert!(!written(".a .c{fill:five}", &dot("a")).contains("five"));
}

#[test]
fn what_a_rule_says_replaces_what_the_element_said() {
    let picture = el("svg").child(el("circle").class("dot").attr("r", 3));
    let text = written(".dot{r:4.2px}", &picture);
    assert!(text.contains("<circle r=\"4.2px\">"), "{text}");
}

/// Every picture of a report with every kind of picture in it.
#[test]
fn pictures_of_a_report_need_nothing_but_themselves() {
    let page = page(&fixture::report(), "plots");
    let mut pictures = 0;
    for (name, svg) in page.plots.iter().filter(|(name, _)| name.ends_with(".svg")) {
        pictures += 1;
        for word in ["var(", "<style", "class=", "--"] {
            assert!(!svg.contains(word), "{name} has {word}");
        }
        assert!(svg.contains("<title>") && svg.contains("fill=\"#"), "{name}");
        for line in svg.split("<line").skip(1) {
            let line = line.split('>').next().unwrap_or_default();
            assert!(
                line.contains("stroke=\"#"),
                "{name} has a line without a colour: {line}"
            );
        }
    }
    assert!(pictures > 5, "{pictures}");
}
