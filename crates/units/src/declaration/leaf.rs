//! Leaves of a setup: plain data of a run that no user writes, described for the languages that make them.
//!
//! [`leaf!`](crate::leaf) makes a struct, or an enumeration of tables that one key tells apart, and its description
//! ([`Leaf`]), so that the names and types of the fields stand in one place.

use super::{Kind, Parameters, joined};
use crate::{Bytes, FlowId, Instant, LinkId, NodeId, Rate, Span};
use serde::Serialize;

/// What a field holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "of")]
pub enum Shape {
    /// True or false.
    Switch,
    /// A whole number without a unit.
    Integer,
    /// A real number.
    Number,
    /// Text.
    Text,
    /// A time in picoseconds, or an instant since the start of the run.
    Span,
    /// A rate in bits per second.
    Rate,
    /// A size in bytes.
    Bytes,
    /// The id of a node, link or flow.
    Id,
    /// One of these names.
    Choice(Vec<&'static str>),
    /// An algorithm of the registry of this name.
    Algorithm(&'static str),
    /// The leaf of this name.
    Leaf(&'static str),
    /// Any number of these.
    List(Box<Self>),
    /// One of each.
    Pair(Box<(Self, Self)>),
    /// One, or none.
    Optional(Box<Self>),
}

/// A type that a field may have.
pub trait Shaped {
    /// What it holds.
    fn shape() -> Shape;
}

macro_rules! shaped {
    ($($type:ty => $shape:ident),* $(,)?) => { $(
        impl Shaped for $type {
            fn shape() -> Shape {
                Shape::$shape
            }
        }
    )* };
}

shaped! {
    bool => Switch, u32 => Integer, u64 => Integer, usize => Integer, f64 => Number, String => Text,
    Span => Span, Instant => Span, Rate => Rate, Bytes => Bytes, NodeId => Id, LinkId => Id, FlowId => Id,
}

impl<T: Shaped> Shaped for Option<T> {
    fn shape() -> Shape {
        Shape::Optional(Box::new(T::shape()))
    }
}

impl<T: Shaped> Shaped for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }
}

impl<T: Shaped> Shaped for Box<T> {
    fn shape() -> Shape {
        T::shape()
    }
}

impl<A: Shaped, B: Shaped> Shaped for (A, B) {
    fn shape() -> Shape {
        Shape::Pair(Box::new((A::shape(), B::shape())))
    }
}

/// A field, described.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub text: String,
    /// What it holds.
    pub shape: Shape,
}

impl Field {
    /// Describes a field of a type.
    #[must_use]
    pub fn of<T: Shaped>(name: &'static str, text: &[&str]) -> Self {
        Self { name, text: joined(text), shape: T::shape() }
    }
}

/// One table of a leaf, described.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Form {
    /// Its name among all of the leaf; empty where there is one only.
    pub name: &'static str,
    /// What it is.
    pub text: String,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A leaf, described.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Leaf {
    /// What it is called: `change`.
    pub name: &'static str,
    /// What it is.
    pub text: String,
    /// The key that holds the name of the table; `None`: the fields tell them apart.
    pub tag: Option<&'static str>,
    /// Its tables.
    pub forms: Vec<Form>,
}

impl Leaf {
    /// The leaf of parameters that stand in a table of their own.
    ///
    /// # Panics
    /// If a parameter is no number, switch or quantity.
    #[must_use]
    pub fn of_parameters<P: Parameters>(name: &'static str) -> Self {
        let fields = P::declared().into_iter().map(|parameter| {
            let shape = match parameter.kind {
                Kind::Switch => Shape::Switch,
                Kind::Integer | Kind::Packets => Shape::Integer,
                Kind::Number => Shape::Number,
                Kind::Span => Shape::Span,
                Kind::Rate => Shape::Rate,
                Kind::Bytes => Shape::Bytes,
                other => panic!("{} is of the kind {other:?}, which no leaf holds", parameter.name),
            };
            let shape = if parameter.optional { Shape::Optional(Box::new(shape)) } else { shape };
            Field { name: parameter.name, text: parameter.text, shape }
        });
        let text = joined(P::TEXT);
        let form = Form { name: "", text: text.clone(), fields: fields.collect() };
        Self { name, text, tag: None, forms: vec![form] }
    }
}

/// A type that [`leaf!`](crate::leaf) makes.
pub trait Described {
    /// Its description.
    #[must_use]
    fn described() -> Leaf;
}

/// Makes a struct, or an enumeration of tables, with its JSON form and its description.
///
/// ```
/// use anabranch_units::declaration::leaf::{Described, Shape};
///
/// anabranch_units::leaf! {
///     /// What a host does.
///     pub struct HostSetup: "host" {
///         /// Most segments of a train.
///         pub offload: Option<u32>,
///     }
/// }
/// anabranch_units::leaf! {
///     /// What changes.
///     pub enum Change: "change" by "kind" {
///         /// A link comes up or goes down.
///         "link" => Link {
///             /// Whether it is up.
///             up: bool,
///         },
///     }
/// }
///
/// assert_eq!(Change::described().forms[0].fields[0].shape, Shape::Switch);
/// assert_eq!(HostSetup::described().tag, None);
/// ```
///
/// A struct with `by "algorithm" = "python"` is the table of that name of an enumeration that stands elsewhere. What
/// stands behind a semicolon is neither described nor a part of the JSON. Without `by` the tables of an enumeration are
/// told apart by their fields.
#[macro_export]
macro_rules! leaf {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derived:ident),+)])?
        $vis:vis struct $name:ident : $called:literal $(by $tag:literal = $word:literal)? {
            $( $(#[doc = $text:literal])+ $(#[serde($($attribute:tt)+)])? pub $field:ident : $type:ty ),* $(,)?
            $( ; $(#[doc = $kept_text:literal])+ pub $kept:ident : $kept_type:ty $(,)? )?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $(#[derive($($derived),+)])?
        #[serde(deny_unknown_fields)]
        $vis struct $name {
            $( $(#[doc = $text])+ $(#[serde($($attribute)+)])? pub $field: $type, )*
            $( $(#[doc = $kept_text])+ #[serde(skip)] pub $kept: $kept_type, )?
        }

        impl $crate::declaration::leaf::Described for $name {
            fn described() -> $crate::declaration::leaf::Leaf {
                let text = $crate::declaration::joined(&[$($doc),+]);
                let fields = vec![ $( $crate::declaration::leaf::Field::of::<$type>(stringify!($field), &[$($text),+]) ),* ];
                let (tag, name) = $crate::leaf!(@word $($tag, $word)?);
                let form = $crate::declaration::leaf::Form { name, text: text.clone(), fields };
                $crate::declaration::leaf::Leaf { name: $called, text, tag, forms: vec![form] }
            }
        }

        $crate::leaf!(@shape $name, $called);
    };
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derived:ident),+)])?
        $vis:vis enum $name:ident : $called:literal $(by $tag:literal)? {
            $(
                $(#[doc = $text:literal])+
                $word:literal => $variant:ident {
                    $( $(#[doc = $field_text:literal])+ $field:ident : $type:ty ),* $(,)?
                }
            ),+ $(,)?
        }
    ) => {
        $crate::leaf! {
            @enumeration ($($tag)?)
            $(#[doc = $doc])+
            $(#[derive($($derived),+)])?
            $vis enum $name {
                $(
                    $(#[doc = $text])+
                    #[serde(rename = $word)]
                    $variant { $( $(#[doc = $field_text])+ $field: $type, )* },
                )+
            }
        }

        impl $crate::declaration::leaf::Described for $name {
            fn described() -> $crate::declaration::leaf::Leaf {
                let forms = vec![ $( $crate::declaration::leaf::Form {
                    name: $word,
                    text: $crate::declaration::joined(&[$($text),+]),
                    fields: vec![ $(
                        $crate::declaration::leaf::Field::of::<$type>(stringify!($field), &[$($field_text),+])
                    ),* ],
                } ),+ ];
                let text = $crate::declaration::joined(&[$($doc),+]);
                $crate::declaration::leaf::Leaf { name: $called, text, tag: $crate::leaf!(@tag $($tag)?), forms }
            }
        }

        $crate::leaf!(@shape $name, $called);
    };
    (@enumeration ($tag:literal) $($body:tt)+) => {
        #[derive(Clone, PartialEq, Debug, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(tag = $tag, deny_unknown_fields)]
        $($body)+
    };
    (@enumeration () $($body:tt)+) => {
        #[derive(Clone, PartialEq, Debug, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(untagged, deny_unknown_fields)]
        $($body)+
    };
    (@word $tag:literal, $word:literal) => { (Some($tag), $word) };
    (@word) => { (None, "") };
    (@tag $tag:literal) => { Some($tag) };
    (@tag) => { None };
    (@shape $name:ident, $called:literal) => {
        impl $crate::declaration::leaf::Shaped for $name {
            fn shape() -> $crate::declaration::leaf::Shape {
                $crate::declaration::leaf::Shape::Leaf($called)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::choice! {
        /// A side.
        enum Side {
            /// The left one.
            "left" => Left,
            /// The right one.
            "right" => Right,
        }
    }

    crate::leaf! {
        /// Something
        /// with everything.
        #[derive(Default)]
        struct Whole: "whole" {
            /// Ids
            /// of links.
            pub links: Vec<LinkId>,
            /// A time and a rate.
            pub both: Vec<(Span, Rate)>,
            /// A part.
            pub part: Option<Box<Part>>,
            /// Left out of the JSON where it is.
            #[serde(default)]
            pub side: Option<Side>,
            ;
            /// What nobody reads.
            pub kept: u8,
        }
    }

    crate::leaf! {
        /// A part.
        enum Part: "part" by "kind" {
            /// No part.
            "none" => None {},
            /// One with a size.
            "sized-part" => Sized {
                /// Bytes.
                bytes: u64,
            },
        }
    }

    crate::leaf! {
        /// A point.
        #[derive(Copy, Eq)]
        enum Point: "point" {
            /// A link.
            "link" => Link {
                /// Which.
                link: LinkId,
            },
            /// A node.
            "node" => Node {
                /// Which.
                node: NodeId,
            },
        }
    }

    crate::leaf! {
        /// Brought along.
        struct Brought: "test" by "algorithm" = "python" {
            /// Its place.
            pub code: usize,
        }
    }

    fn json<T: Serialize>(value: &T) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn json_is_that_of_the_fields_and_the_tag() {
        let part = Part::Sized { bytes: 5 };
        assert_eq!(json(&part), r#"{"kind":"sized-part","bytes":5}"#);
        assert_eq!(serde_json::from_str::<Part>(r#"{"kind":"none"}"#).unwrap(), Part::None {});
        assert!(serde_json::from_str::<Part>(r#"{"kind":"sized-part","bytes":5,"x":1}"#).is_err());
        let whole = Whole { part: Some(Box::new(part)), kept: 7, ..Whole::default() };
        let text = r#"{"links":[],"both":[],"part":{"kind":"sized-part","bytes":5},"side":null}"#;
        assert_eq!(json(&whole), text);
        assert_eq!(serde_json::from_str::<Whole>(text).unwrap(), Whole { kept: 0, ..whole });
        assert!(serde_json::from_str::<Whole>(r#"{"both":[]}"#).is_err());
    }

    #[test]
    fn tables_without_a_tag_are_told_apart_by_their_fields() {
        assert_eq!(json(&Point::Link { link: LinkId(3) }), r#"{"link":3}"#);
        assert_eq!(serde_json::from_str::<Point>(r#"{"node":2}"#).unwrap(), Point::Node { node: NodeId(2) });
        assert!(serde_json::from_str::<Point>(r#"{"node":2,"link":1}"#).is_err());
    }

    #[test]
    fn descriptions_say_everything() {
        let whole = Whole::described();
        assert_eq!(
            (whole.name, whole.text.as_str(), whole.tag),
            ("whole", "Something with everything.", None)
        );
        let shapes: Vec<_> =
            whole.forms[0].fields.iter().map(|field| (field.name, json(&field.shape))).collect();
        let expected = [
            ("links", r#"{"kind":"list","of":{"kind":"id"}}"#),
            ("both", r#"{"kind":"list","of":{"kind":"pair","of":[{"kind":"span"},{"kind":"rate"}]}}"#),
            ("part", r#"{"kind":"optional","of":{"kind":"leaf","of":"part"}}"#),
            ("side", r#"{"kind":"optional","of":{"kind":"choice","of":["left","right"]}}"#),
        ];
        assert_eq!(shapes, expected.map(|(name, shape)| (name, shape.to_owned())));
        assert_eq!(whole.forms[0].fields[0].text, "Ids of links.");
        let part = Part::described();
        assert_eq!(
            (part.tag, part.forms[1].name, part.forms[1].fields.len()),
            (Some("kind"), "sized-part", 1)
        );
        assert_eq!(Point::described().tag, None);
        let brought = Brought::described();
        assert_eq!((brought.tag, brought.forms[0].name), (Some("algorithm"), "python"));
    }
}
