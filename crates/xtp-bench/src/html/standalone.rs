//! A picture as a file of its own: what the page's style sheet says is written into its elements, so that it looks the same in
//! viewers that know no style sheets, or no variables in them (`rsvg-convert`, LaTeX, office programs).

use std::collections::BTreeMap;

use super::element::{Element, el};
use super::lines::words;

/// The sheet of the page.
const SHEET: &str = include_str!("style.css");
/// What of it says how a picture looks. A viewer that finds a length like `4.2px` in an attribute takes it.
const PROPERTIES: [&str; 12] = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-linejoin",
    "font-size",
    "font-weight",
    "font-style",
    "text-anchor",
    "r",
];
/// Height of the title above the picture.
const TITLE: f64 = 34.0;
/// The text of everything that says nothing else.
const FONT: &str = "system-ui,-apple-system,Segoe UI,Roboto,DejaVu Sans,Arial,sans-serif";

/// The pictures side by side, each below its title, in the colours of the light page.
pub(super) fn standalone(pictures: &[&Element]) -> String {
    let sheet = Sheet::parse(SHEET);
    let (mut width, mut height) = (0.0, 0.0_f64);
    let mut parts = Vec::new();
    for picture in pictures {
        let [own_width, own_height] = size(picture);
        let heading = words(width + 8.0, 22.0, "start", title(picture))
            .attr("font-size", "16px")
            .attr("font-weight", "600")
            .attr("fill", sheet.variable("--ink"));
        let shown = el("g")
            .attr("transform", format!("translate({width} {TITLE})"))
            .children(sheet.written(picture).into_children());
        parts.extend([heading, shown]);
        width += own_width;
        height = height.max(own_height + TITLE);
    }
    let titles: Vec<&str> = pictures.iter().map(|picture| title(picture)).collect();
    let root = el("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("viewBox", format!("0 0 {width} {height}"))
        .attr("width", width)
        .attr("height", height)
        .attr("role", "img")
        .attr("font-family", FONT)
        .attr("font-size", "12px")
        .child(el("title").text(titles.join("; ")))
        .child(
            el("rect")
                .attr("width", width)
                .attr("height", height)
                .attr("fill", sheet.variable("--back")),
        )
        .children(parts);
    format!("{root}\n")
}

fn title(picture: &Element) -> &str {
    picture.attribute("aria-label").unwrap_or("")
}

/// Width and height of its `viewBox`, which every chart has.
fn size(picture: &Element) -> [f64; 2] {
    let numbers = picture.attribute("viewBox").unwrap_or("").split(' ');
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [_, _, width, height] => [width, height],
        _ => [0.0; 2],
    }
}

/// What must be true of one element: its name, if one is given, and its classes.
#[derive(Debug, Clone, PartialEq)]
struct Simple {
    name: Option<String>,
    classes: Vec<String>,
}

impl Simple {
    /// `None` for what pictures have not (`:root`, `*`, attributes, relations other than "within").
    fn parse(text: &str) -> Option<Self> {
        if text.contains([':', '*', '>', '+', '[']) {
            return None;
        }
        let mut parts = text.split('.');
        let name = parts.next().filter(|name| !name.is_empty()).map(str::to_owned);
        let classes = parts.map(str::to_owned).collect();
        Some(Self { name, classes })
    }

    fn fits(&self, element: &Element) -> bool {
        let has = |class: &String| element.classes().any(|own| own == class);
        self.name.as_deref().is_none_or(|name| name == element.name()) && self.classes.iter().all(has)
    }
}

/// One rule: elements within others, and what it sets.
#[derive(Debug, Clone)]
struct Rule {
    /// From the outermost to the element itself.
    path: Vec<Simple>,
    declarations: Vec<Declaration>,
}

#[derive(Debug, Clone)]
struct Declaration {
    property: String,
    value: String,
    /// It wins over those that do not say so, and over more classes.
    important: bool,
}

impl Rule {
    /// Whether it is about the last of these, each of which lies within the one before.
    fn fits(&self, elements: &[&Element]) -> bool {
        let Some((own, within)) = self.path.split_last() else {
            return false;
        };
        let Some((element, outer)) = elements.split_last() else {
            return false;
        };
        let mut outer = outer.iter();
        own.fits(element) && within.iter().all(|part| outer.any(|element| part.fits(element)))
    }

    /// Of two rules for one property the one with more classes wins, then the later one.
    fn weight(&self) -> usize {
        let of = |part: &Simple| 10 * part.classes.len() + usize::from(part.name.is_some());
        self.path.iter().map(of).sum()
    }
}

/// What a style sheet says about pictures on a light page.
#[derive(Debug)]
struct Sheet {
    variables: BTreeMap<String, String>,
    rules: Vec<Rule>,
}

impl Sheet {
    /// Rules for certain media are left out.
    fn parse(text: &str) -> Self {
        let mut sheet = Self {
            variables: BTreeMap::new(),
            rules: Vec::new(),
        };
        let mut rest = text;
        while let Some((selectors, behind)) = rest.split_once('{') {
            let medium = selectors.trim_start().starts_with('@');
            let (body, behind) = block(behind);
            rest = behind;
            if medium {
                continue;
            }
            let declarations = declarations(body);
            for selector in selectors.split(',').map(str::trim) {
                if selector == ":root" {
                    let set = declarations.iter().filter(|set| set.property.starts_with("--"));
                    sheet
                        .variables
                        .extend(set.map(|set| (set.property.clone(), set.value.clone())));
                }
                let path: Option<Vec<Simple>> = selector.split_whitespace().map(Simple::parse).collect();
                if let Some(path) = path.filter(|path| !path.is_empty()) {
                    let declarations = declarations.clone();
                    sheet.rules.push(Rule { path, declarations });
                }
            }
        }
        // Stable: of equal weight the later one stays later.
        sheet.rules.sort_by_key(Rule::weight);
        sheet
    }

    fn variable(&self, name: &str) -> String {
        self.variables.get(name).cloned().unwrap_or_default()
    }

    /// The element with everything that the sheet says of it and of what is in it.
    fn written(&self, element: &Element) -> Element {
        self.write(element, &mut Vec::new(), &self.variables)
    }

    fn write<'e>(
        &self,
        element: &'e Element,
        outer: &mut Vec<&'e Element>,
        variables: &BTreeMap<String, String>,
    ) -> Element {
        outer.push(element);
        let rules: Vec<&Rule> = self.rules.iter().filter(|rule| rule.fits(outer)).collect();
        let said = || rules.iter().flat_map(|rule| &rule.declarations);
        let mut variables = variables.clone();
        for set in said().filter(|set| set.property.starts_with("--")) {
            let value = resolved(&set.value, &variables);
            variables.insert(set.property.clone(), value);
        }
        let mut found: BTreeMap<&'static str, String> = BTreeMap::new();
        for important in [false, true] {
            for set in said().filter(|set| set.important == important) {
                if let Some(property) = PROPERTIES.iter().find(|name| **name == set.property) {
                    found.insert(property, resolved(&set.value, &variables));
                }
            }
        }
        let mut written = element.without(&["class", "style"]);
        for (property, value) in found {
            written = written.set(property, value);
        }
        let written = written.map_children(|child| self.write(child, &mut outer.clone(), &variables));
        outer.pop();
        written
    }
}

/// The text up to the brace that closes a block, and what is behind it.
fn block(text: &str) -> (&str, &str) {
    let mut depth = 1;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&text[..at], &text[at + 1..]);
        }
    }
    (text, "")
}

fn declarations(body: &str) -> Vec<Declaration> {
    let declaration = |text: &str| {
        let (property, value) = text.split_once(':')?;
        let value = value.trim();
        let plain = value.strip_suffix("!important");
        Some(Declaration {
            property: property.trim().to_owned(),
            value: plain.unwrap_or(value).trim().to_owned(),
            important: plain.is_some(),
        })
    };
    body.split(';').filter_map(declaration).collect()
}

/// A value whose variables have theirs.
fn resolved(value: &str, variables: &BTreeMap<String, String>) -> String {
    let Some((before, rest)) = value.split_once("var(") else {
        return value.to_owned();
    };
    let Some((name, behind)) = rest.split_once(')') else {
        return value.to_owned();
    };
    let (name, instead) = name.split_once(',').unwrap_or((name, ""));
    let known = variables.get(name.trim()).map_or(instead, String::as_str);
    format!(
        "{before}{}{}",
        resolved(known, variables),
        resolved(behind, variables)
    )
}

#[cfg(test)]
#[path = "standalone_tests.rs"]
mod tests;
