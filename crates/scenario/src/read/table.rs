//! Tables: fields by key.

use super::{Field, Form, Read, TableForm};
use crate::algorithm::stands_elsewhere;
use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::words::{quoted, suggest, unknown_key};
use anabranch_units::declaration::joined;

/// A table whose fields are declared; [`table!`](crate::table) makes one.
pub trait Table: Sized {
    /// The table, described.
    const FORM: TableForm;

    /// Its fields, in their order: the key and the name of each.
    fn names() -> Vec<(&'static str, &'static str)>;

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
    /// Its fields: key and name of each.
    pub names: &'r [(&'static str, &'static str)],
}

impl Reading<'_, '_> {
    /// The word by which a field is written here: its key or, where tables are called, its name as an attribute.
    fn word<'k>(&self, key: &'k str) -> &'k str {
        if !self.problems.is_of_call() || self.node.has(key) {
            return key;
        }
        self.names.iter().find(|(field, _)| *field == key).map_or(key, |(_, name)| *name)
    }

    /// The value of a field, its default where it is left out; one that is wrong or missing is noted.
    ///
    /// There is one of these for each field of all tables: what does not depend on the type stands outside.
    pub fn field<T: Read>(
        &mut self,
        key: &'static str,
        text: &[&str],
        default: fn() -> Option<T>,
        outside: fn(&T, &Node) -> Option<String>,
    ) -> Option<T> {
        let key = self.word(key);
        let Some(node) = self.node.get(key) else {
            let value = default().or_else(T::absent);
            if value.is_none() {
                self.note_missing(key, text);
            }
            return value;
        };
        let value = T::read(node, &self.at.key(key), self.problems)?;
        if let Some(message) = outside(&value, node) {
            self.problems.add(&self.at.key(key), message);
            return None;
        }
        Some(value)
    }

    fn note_missing(&mut self, key: &str, text: &[&str]) {
        self.problems.add(&self.at.key(key), format!("is missing{}", purpose(&joined(text))));
    }

    /// Notes each key of the table that it does not have, and says whether there was none.
    fn has_no_others(&mut self, entries: &[(String, Node)], form: &TableForm) -> bool {
        let before = self.problems.count();
        for (key, _) in entries {
            note_unknown(key, self, form.tag.map(|tag| tag.key), form.fields);
        }
        self.problems.count() == before
    }

    /// Notes what is wrong with a field, by its key, or with one below it, by keys with dots between them.
    pub fn refuse<T>(&mut self, keys: &str, message: impl Into<String>) -> Option<T> {
        let (key, below) = keys.split_once('.').map_or((keys, None), |(key, below)| (key, Some(below)));
        let at = self.at.key(self.word(key));
        match below {
            Some(below) => self.problems.add(&at.key(below), message),
            None => self.problems.add(&at, message),
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

/// The entries of a table of a class; what is none is noted.
pub fn entries<'n>(
    class: &str,
    node: &'n Node,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'n [(String, Node)]> {
    if node.is_foreign() {
        let message =
            format!("{} does not belong here; give {class}, or a dictionary of its keys", node.shown());
        problems.add(at, message);
    } else if node.table().is_none() {
        problems.add(at, format!("{} is not a table", node.shown()));
    }
    node.table()
}

/// Notes a key that a table does not have, or has under another name already.
fn note_unknown(
    key: &str,
    reading: &mut Reading<'_, '_>,
    tag: Option<&'static str>,
    fields: fn() -> Vec<Field>,
) {
    let at = reading.at.key(key);
    let (keys, of_call) = (reading.names, reading.problems.is_of_call());
    if keys.iter().any(|(field, _)| *field == key) || tag == Some(key) {
        return;
    }
    if let Some((twin, _)) = keys.iter().find(|(_, name)| of_call && *name == key) {
        if reading.node.has(twin) {
            let message =
                format!("is another name of {}, which is there, too; leave out one of the two", quoted(twin));
            reading.problems.add(&at, message);
        }
        return;
    }
    let message = stands_elsewhere(key, reading.node, &choices(fields()));
    reading.problems.add(&at, message.unwrap_or_else(|| unknown_field(key, keys, tag, of_call)));
}

/// The fields that choose an algorithm: the key of each, and its registry.
fn choices(fields: Vec<Field>) -> Vec<(&'static str, &'static str)> {
    let registry = |form: &Form| match form {
        Form::Algorithm(registry) => Some(*registry),
        Form::Optional(of) => match **of {
            Form::Algorithm(registry) => Some(registry),
            _ => None,
        },
        _ => None,
    };
    fields.iter().filter_map(|field| Some((field.key, registry(&field.form)?))).collect()
}

/// What to say about a key that a table does not have; its names as attributes may be meant, too.
fn unknown_field(
    key: &str,
    names: &[(&'static str, &'static str)],
    tag: Option<&'static str>,
    of_call: bool,
) -> String {
    let written = |&(key, name): &(&'static str, &'static str)| if of_call { name } else { key };
    let keys: Vec<_> = tag.into_iter().chain(names.iter().map(written)).collect();
    let others = names.iter().filter(|(key, name)| key != name).flat_map(|&(key, name)| [key, name]);
    let every: Vec<_> = keys.iter().copied().chain(others).collect();
    match suggest(key, every.iter().copied()) {
        Some(near) => {
            let meant = names.iter().find(|(key, name)| *key == near || *name == near).map_or(near, written);
            format!("no such key; nearest: {}", quoted(meant))
        }
        None => unknown_key(key, &keys),
    }
}

/// Reads a table: its fields, then what it does not have, then, if all of that is right, what does not go together.
pub fn read_table<T: Table>(
    node: &Node,
    at: &Place<'_>,
    problems: &mut Problems,
    together: fn(&T, &mut Reading<'_, '_>) -> Option<()>,
) -> Option<T> {
    let entries = entries(T::FORM.name, node, at, problems)?;
    let names = T::names();
    let mut reading = Reading { node, at, problems, names: &names };
    let read = T::take(&mut reading);
    if !reading.has_no_others(entries, &T::FORM) {
        return None;
    }
    let read = read?;
    together(&read, &mut reading)?;
    Some(read)
}

/// The fields of a table: those of the tables before it, then its own.
#[must_use]
pub fn fields_behind(parts: &[TableForm], own_fields: Vec<Field>) -> Vec<Field> {
    parts.iter().flat_map(TableForm::fields).chain(own_fields).collect()
}

/// Key and name of each field of a table: those of the tables before it, then its own.
#[must_use]
pub fn names_behind(
    parts: &[Vec<(&'static str, &'static str)>],
    names: &[(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    parts.iter().flatten().chain(names).copied().collect()
}

/// The name of a field, which Rust may write with `r#`.
#[must_use]
pub const fn name_of(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
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
/// Behind a colon stand tables whose fields come first. `tagged` has the key and the word by which whoever reads the
/// table has chosen it among several; `together` is a function that refuses what does not go together.
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
        $(tagged $(#[doc = $tag_text:literal])+ $tag:ident is $word:literal;)?
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
                of: $crate::or!($(Some(<$param as $trait>::NAME))?, None),
                tag: $crate::or!($(Some($crate::read::Tag {
                    key: stringify!($tag),
                    word: $word,
                    text: &[$($tag_text),+],
                }))?, None),
                parts: &[$( $(<$part_type as $crate::read::Table>::FORM.name),+ )?],
                fields: || {
                    let parts: &[$crate::read::TableForm] =
                        &[$( $(<$part_type as $crate::read::Table>::FORM),+ )?];
                    let own = vec![$( $crate::read::Field {
                        key: $crate::key!($field $($key)?),
                        name: $crate::read::name_of(stringify!($field)),
                        text: ::anabranch_units::declaration::joined(&[$($text),+]),
                        form: $crate::form!($type $(, $bounds)?),
                        default: $crate::usual!($type $(, $default)?),
                    }),*];
                    $crate::read::fields_behind(parts, own)
                },
            };

            fn names() -> Vec<(&'static str, &'static str)> {
                let parts: &[Vec<(&'static str, &'static str)>] =
                    &[$( $(<$part_type as $crate::read::Table>::names()),+ )?];
                let own_names = [$( ($crate::key!($field $($key)?), $crate::read::name_of(stringify!($field))) ),*];
                $crate::read::names_behind(parts, &own_names)
            }

            fn take(from: &mut $crate::read::Reading<'_, '_>) -> Option<Self> {
                $( $(let $part = <$part_type as $crate::read::Table>::take(from);)+ )?
                $( let $field = from.field::<$type>(
                    $crate::key!($field $($key)?),
                    &[$($text),+],
                    || $crate::default!($($default)?),
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
        impl $crate::read::Usual for $name {
            fn usual(&self) -> ::serde_json::Value {
                ::serde_json::json!({})
            }
        }

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

/// The default of a field as a scenario would write it.
#[doc(hidden)]
#[macro_export]
macro_rules! usual {
    ($type:ty) => {
        <$type as $crate::read::Read>::absent().map(|_| ::serde_json::Value::Null)
    };
    ($type:ty, $default:expr) => {{
        let default: $type = $default;
        Some($crate::read::Usual::usual(&default))
    }};
}

/// What the values of a field are, within its bounds if it has any.
#[doc(hidden)]
#[macro_export]
macro_rules! form {
    ($type:ty) => {
        <$type as $crate::read::Read>::form()
    };
    ($type:ty, $bounds:expr) => {
        <$type as $crate::read::Within>::form_within(&$bounds)
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
