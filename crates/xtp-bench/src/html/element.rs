//! Markup as a tree: every tag is closed and every text escaped because there is no other way to write one.

use std::fmt;

/// One element, HTML or SVG.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Element(Element),
    Text(String),
    /// A style sheet: written as it is, since entities mean nothing inside `<style>`.
    Style(&'static str),
}

/// An element named `name` without attributes and children.
pub(super) fn el(name: &'static str) -> Element {
    Element {
        name,
        attributes: Vec::new(),
        children: Vec::new(),
    }
}

impl Element {
    /// Adds an attribute.
    pub(super) fn attr(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// Adds a coordinate or length, rounded to a tenth of a pixel: what the eye can tell.
    pub(super) fn at(self, name: &'static str, value: f64) -> Self {
        let rounded = (value * 10.0).round() / 10.0;
        self.attr(name, if rounded.is_finite() { rounded } else { 0.0 })
    }

    /// Sets the class.
    pub(super) fn class(self, names: impl fmt::Display) -> Self {
        self.attr("class", names)
    }

    /// Adds text.
    pub(super) fn text(mut self, text: impl fmt::Display) -> Self {
        self.children.push(Node::Text(text.to_string()));
        self
    }

    /// Adds a style sheet that is part of this program.
    pub(super) fn style(mut self, sheet: &'static str) -> Self {
        self.children.push(Node::Style(sheet));
        self
    }

    /// Adds an element.
    pub(super) fn child(mut self, child: Element) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// Adds elements.
    pub(super) fn children(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children.into_iter().map(Node::Element));
        self
    }

    /// Adds an element if there is one.
    pub(super) fn maybe(self, child: Option<Element>) -> Self {
        self.children(child)
    }

    /// The first element of this name within, in the order of the text.
    pub(super) fn find(&self, name: &str) -> Option<&Element> {
        self.children.iter().find_map(|child| match child {
            Node::Element(element) if element.name == name => Some(element),
            Node::Element(element) => element.find(name),
            _ => None,
        })
    }

    /// Every element within for which this is true, in the order of the text; nothing inside those found.
    pub(super) fn all<'e>(&'e self, is_one: &dyn Fn(&Element) -> bool) -> Vec<&'e Element> {
        let mut found = Vec::new();
        for child in &self.children {
            match child {
                Node::Element(element) if is_one(element) => found.push(element),
                Node::Element(element) => found.extend(element.all(is_one)),
                _ => {}
            }
        }
        found
    }

    /// The value of an attribute, if set.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(set, _)| *set == name);
        found.map(|(_, value)| value.as_str())
    }

    /// What it is.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Its classes.
    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        self.attribute("class").unwrap_or("").split_whitespace()
    }

    /// The same without these attributes.
    pub(super) fn without(&self, names: &[&str]) -> Self {
        let mut same = self.clone();
        same.attributes.retain(|(name, _)| !names.contains(name));
        same
    }

    /// Sets an attribute, in place of the value it had.
    pub(super) fn set(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.attributes.retain(|(set, _)| *set != name);
        self.attr(name, value)
    }

    /// The same with other elements in place of those within, text as it is.
    pub(super) fn map_children(mut self, mut other: impl FnMut(&Element) -> Element) -> Self
    where
        Self: Sized,
    {
        for child in &mut self.children {
            if let Node::Element(element) = child {
                *element = other(element);
            }
        }
        self
    }

    /// The elements within.
    pub(super) fn into_children(self) -> impl Iterator<Item = Element> {
        self.children.into_iter().filter_map(|child| match child {
            Node::Element(element) => Some(element),
            _ => None,
        })
    }

    /// Elements of which nothing may stand inside, not even an end tag.
    fn is_void(&self) -> bool {
        matches!(self.name, "meta" | "br" | "hr" | "col")
    }
}

/// Escapes what has a meaning in markup, and control characters, which no text may contain.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            other if other.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(f, " {name}=\"{}\"", escape(value))?;
        }
        if self.is_void() {
            return write!(f, "/>");
        }
        write!(f, ">")?;
        for child in &self.children {
            match child {
                Node::Element(element) => element.fmt(f)?,
                Node::Text(text) => f.write_str(&escape(text))?,
                Node::Style(sheet) => f.write_str(sheet)?,
            }
        }
        write!(f, "</{}>", self.name)?;
        if matches!(
            self.name,
            "section" | "figure" | "table" | "tr" | "svg" | "p" | "h2" | "h3" | "g"
        ) {
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "element_tests.rs"]
mod tests;
