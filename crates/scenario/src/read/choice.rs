//! Names of which a field takes one.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::words::unknown_choice;

/// An enumeration that a scenario writes as a name; [`choices!`](crate::choices) makes one.
pub trait Choices: Copy + 'static {
    /// Every one by its name.
    const NAMES: &'static [(&'static str, Self)];
}

/// One of several names.
pub fn read_choice<T: Choices>(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<T> {
    let chosen = T::NAMES.iter().find(|(name, _)| node.text() == Some(name));
    if chosen.is_none() {
        let names: Vec<_> = T::NAMES.iter().map(|(name, _)| *name).collect();
        problems.add(at, unknown_choice(node, &names));
    }
    chosen.map(|(_, value)| *value)
}

/// Makes an enumeration that a scenario writes as one of several names.
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $( $(#[doc = $text:literal])+ $word:literal => $variant:ident ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $( $(#[doc = $text])+ $variant, )+
        }

        impl $crate::read::Choices for $name {
            const NAMES: &'static [(&'static str, Self)] = &[$( ($word, Self::$variant) ),+];
        }

        impl $crate::read::Usual for $name {
            fn usual(&self) -> ::serde_json::Value {
                let names = <Self as $crate::read::Choices>::NAMES;
                names.iter().find(|(_, value)| value == self).map_or("", |(name, _)| *name).into()
            }
        }

        impl $crate::read::Read for $name {
            fn form() -> $crate::read::Form {
                $crate::read::Form::Choice(vec![$($word),+])
            }

            fn read(
                node: &$crate::node::Node,
                at: &$crate::problem::Place<'_>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                $crate::read::read_choice(node, at, problems)
            }
        }
    };
}
