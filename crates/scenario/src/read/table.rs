//! Tables: fields by key.

use super::{Field, Read, TableForm};
use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::words::unknown_key;
use anabranch_units::declaration::joined;

/// A table whose fields are declared; [`table!`](crate::table) makes one.
pub trait Table: Sized {
    /// The table, described.
    const FORM: TableForm;

    /// Takes its fields out of a table that is being read; what is wrong with them is noted.
    fn take(from: &mut Reading<'_, '_>) -> Option<Self>;
}

/// A table that is being read.
pub struct Reading<'r, 'p> {
    /// What is read.
    pub node: &'r Node,
    /// Where.
    pub at: &'r Place<'p>,
    /// What is wrong so far.
    pub problems: &'r mut Problems,
}

impl Reading<'_, '_> {
    /// The value of a field, its default where it is left out; one that is wrong or missing is noted.
    pub fn field<T: Read>(
        &mut self,
        key: &str,
        text: &[&str],
        default: Option<T>,
        outside: impl Fn(&T, &Node) -> Option<String>,
    ) -> Option<T> {
        let at = self.at.key(key);
        let Some(node) = self.node.get(key) else {
            let value = default.or_else(T::absent);
            if value.is_none() {
                self.problems.add(&at, format!("is missing{}", purpose(&joined(text))));
            }
            return value;
        };
        let value = T::read(node, &at, self.problems)?;
        if let Some(message) = outside(&value, node) {
            self.problems.add(&at, message);
            return None;
        }
        Some(value)
    }

    /// Notes what is wrong with a field, by its key, or with one below it, by keys with dots between them.
    pub fn refuse<T>(&mut self, keys: &str, message: impl Into<String>) -> Option<T> {
        match keys.split_once('.') {
            Some((key, below)) => self.problems.add(&self.at.key(key).key(below), message),
            None => self.problems.add(&self.at.key(keys), message),
        }
        None
    }
}

/// What a missing field is for: the first sentence of its text, in brackets; empty without a text.
#[must_use]
pub fn purpose(text: &str) -> String {
    let text = text.replace("``", "\"").replace('`', "\"");
    let ends = |&(at, c): &(usize, char)| {
        matches!(c, '.' | ':' | ';') && text[at + 1..].chars().next().is_none_or(char::is_whitespace)
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, _)| at);
    let mut sentence = text[..end].chars();
    sentence.next().map_or(String::new(), |first| format!(" ({}{})", first.to_lowercase(), sentence.as_str()))
}

/// The entries of a table; what is none is noted.
pub fn entries<'n>(node: &'n Node, at: &Place<'_>, problems: &mut Problems) -> Option<&'n [(String, Node)]> {
    if node.table().is_none() {
        problems.add(at, format!("{} is not a table", node.shown()));
    }
    node.table()
}

/// Reads a table: its fields, then what it does not have, then, if all of that is right, what does not go together.
pub fn read_table<T: Table>(
    node: &Node,
    at: &Place<'_>,
    problems: &mut Problems,
    together: fn(&T, &mut Reading<'_, '_>) -> Option<()>,
) -> Option<T> {
    let entries = entries(node, at, problems)?;
    let mut reading = Reading { node, at, problems };
    let read = T::take(&mut reading);
    let fields = (T::FORM.fields)();
    let known: Vec<_> = T::FORM.tag.into_iter().chain(fields.iter().map(|field| field.key)).collect();
    let before = reading.problems.count();
    for (key, _) in entries {
        if !known.contains(&key.as_str()) {
            reading.problems.add(&at.key(key), unknown_key(key, &known));
        }
    }
    let read = read.filter(|_| reading.problems.count() == before)?;
    together(&read, &mut reading)?;
    Some(read)
}

impl TableForm {
    /// Its fields, described.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        (self.fields)()
    }
}

/// Makes a struct of the fields of a table, with how it is read and described.
///
/// A field has a text, a name, a key where that is another word, a type, a default where it may be left out, and bounds.
/// Behind a colon stand tables whose fields come first. `tagged` names the key by which whoever reads the table has chosen
/// it among several; `together` is a function that refuses what does not go together.
///
/// ```
/// use anabranch_scenario::node::{Node, Value};
/// use anabranch_scenario::problem::{Place, Problems};
/// use anabranch_scenario::read::Read;
/// use anabranch_units::declaration::at_least;
///
/// anabranch_scenario::table! {
///     /// A pause.
///     pub struct Pause {
///         /// How often.
///         times as "count": u32 = 1, at_least(1);
///     }
/// }
///
/// let mut problems = Problems::default();
/// let table = Node::from(Value::Table(vec![("count".to_owned(), Value::Integer(0).into())]));
/// assert_eq!(Pause::read(&table, &Place::Top, &mut problems), None);
/// assert_eq!(problems.into_told()[0].to_string(), "count: 0 must be at least 1");
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident $(<$param:ident: $trait:ident>)? $(: $($part:ident: $part_type:ty),+)? {
            $( $(#[doc = $text:literal])+ $field:ident $(as $key:literal)? : $type:ty $(= $default:expr)? $(, $bounds:expr)? ; )*
        }
        $(tagged $tag:literal;)?
        $(layered $layered:ident;)?
        $(together $together:expr;)?
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name $(<$param: $trait>)? {
            $( $(#[doc = concat!("The fields of [`", stringify!($part_type), "`].")] pub $part: $part_type,)+ )?
            $( $(#[doc = $text])+ pub $field: $type, )*
        }

        impl $(<$param: $trait>)? $crate::read::Table for $name $(<$param>)? {
            const FORM: $crate::read::TableForm = $crate::read::TableForm {
                name: stringify!($name),
                text: &[$($doc),+],
                tag: $crate::default!($($tag)?),
                fields: || {
                    let parts: &[$crate::read::TableForm] =
                        &[$( $(<$part_type as $crate::read::Table>::FORM),+ )?];
                    let own = [$( $crate::read::Field {
                        key: $crate::key!($field $($key)?),
                        name: stringify!($field),
                        text: ::anabranch_units::declaration::joined(&[$($text),+]),
                        form: <$type as $crate::read::Read>::form(),
                        default: $crate::default_text!($type $(, $default)?),
                    }),*];
                    parts.iter().flat_map($crate::read::TableForm::fields).chain(own).collect()
                },
            };

            fn take(from: &mut $crate::read::Reading<'_, '_>) -> Option<Self> {
                $( $(let $part = <$part_type as $crate::read::Table>::take(from);)+ )?
                $( let $field = from.field::<$type>(
                    $crate::key!($field $($key)?),
                    &[$($text),+],
                    $crate::default!($($default)?),
                    |_value, node| $crate::outside!($type, _value, node $(, $bounds)?),
                ); )*
                Some(Self { $( $($part: $part?,)+ )? $( $field: $field?, )* })
            }
        }

        $crate::layered!([$($layered)?] $name { $($field)* });

        impl $(<$param: $trait>)? $crate::read::Read for $name $(<$param>)? {
            fn form() -> $crate::read::Form {
                $crate::read::Form::Table(<Self as $crate::read::Table>::FORM)
            }

            fn read(
                node: &$crate::node::Node,
                at: &$crate::problem::Place<'_>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                $crate::read::read_table(node, at, problems, $crate::or!($($together)?, |_, _| Some(())))
            }
        }
    };
}

/// The method that fills in what is left out, if a table has one.
#[doc(hidden)]
#[macro_export]
macro_rules! layered {
    ([] $($rest:tt)*) => {};
    ([$method:ident] $name:ident { $($field:ident)* }) => {
        impl Default for $name {
            /// Nothing is said.
            fn default() -> Self {
                Self { $( $field: None, )* }
            }
        }

        impl $name {
            /// These settings, and those of a more general place where nothing is said here.
            #[must_use]
            pub fn $method(&self, general: &Self) -> Self {
                Self { $( $field: self.$field.clone().or_else(|| general.$field.clone()), )* }
            }
        }
    };
}

/// The key of a field: its own word, or its name.
#[doc(hidden)]
#[macro_export]
macro_rules! key {
    ($field:ident $key:literal) => {
        $key
    };
    ($field:ident) => {
        stringify!($field)
    };
}

/// The default of a field, if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! default {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

/// The default of a field as its declaration writes it.
#[doc(hidden)]
#[macro_export]
macro_rules! default_text {
    ($type:ty) => {
        <$type as $crate::read::Read>::absent().map(|_| "None".to_owned())
    };
    ($type:ty, $default:expr) => {
        Some(stringify!($default).to_owned())
    };
}

/// What is wrong with a value by the bounds of its field, if it has any.
#[doc(hidden)]
#[macro_export]
macro_rules! outside {
    ($type:ty, $value:ident, $node:ident) => {
        <$type as $crate::read::Read>::improper($node)
    };
    ($type:ty, $value:ident, $node:ident, $bounds:expr) => {
        $crate::read::Within::outside($value, $node, &$bounds)
    };
}

/// The first of two expressions that is there.
#[doc(hidden)]
#[macro_export]
macro_rules! or {
    (, $other:expr) => {
        $other
    };
    ($one:expr, $other:expr) => {
        $one
    };
}
