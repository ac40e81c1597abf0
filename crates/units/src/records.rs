//! Tables of results: columns with their units in their names.

use crate::Texts;

/// A column of a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Counts and ids.
    Integers(Vec<u64>),
    /// Measurements; NaN where there is none.
    Numbers(Vec<f64>),
    /// Names.
    Texts(Texts),
    /// Names of which there are few, each as its place among them; an empty one where there is none.
    Choices {
        /// The names, each once.
        names: Vec<&'static str>,
        /// The place of each row's name.
        places: Vec<u8>,
    },
}

impl Column {
    /// Rows in it.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
            Self::Choices { places, .. } => places.len(),
        }
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the rows of a column of the same kind.
    ///
    /// # Panics
    /// If it is of another kind, or of choices.
    pub fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Integers(all), Self::Integers(more)) => all.extend(more),
            (Self::Numbers(all), Self::Numbers(more)) => all.extend(more),
            (Self::Texts(all), Self::Texts(more)) => all.extend(more.iter()),
            _ => unreachable!("a column has one kind"),
        }
    }
}

/// A table: columns of one length, in a fixed order.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Its name, such as `flows`.
    pub name: &'static str,
    /// Columns by name.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new() }
    }

    /// Adds a column of counts or ids.
    pub fn integers(&mut self, name: &'static str, values: impl Iterator<Item = u64>) {
        self.columns.push((name, Column::Integers(values.collect())));
    }

    /// Adds a column of measurements.
    pub fn numbers(&mut self, name: &'static str, values: impl Iterator<Item = f64>) {
        self.columns.push((name, Column::Numbers(values.collect())));
    }

    /// Adds a column of names.
    pub fn texts(&mut self, name: &'static str, values: impl Iterator<Item = impl AsRef<str>>) {
        self.columns.push((name, Column::Texts(values.collect())));
    }

    /// Adds a column of names of which there are few, 256 at most.
    ///
    /// # Panics
    /// If there are more.
    pub fn choices(&mut self, name: &'static str, values: impl Iterator<Item = &'static str>) {
        let mut names: Vec<&'static str> = Vec::new();
        let place = |value| {
            let place = names.iter().position(|text| *text == value).unwrap_or_else(|| {
                names.push(value);
                names.len() - 1
            });
            u8::try_from(place).expect("256 names at most")
        };
        let places = values.map(place).collect();
        self.columns.push((name, Column::Choices { names, places }));
    }

    /// A column of measurements, by name.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find_map(|(n, column)| match column {
            Column::Numbers(values) if *n == name => Some(values.as_slice()),
            _ => None,
        })
    }

    /// A column of counts or ids, by name.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<&[u64]> {
        self.columns.iter().find_map(|(n, column)| match column {
            Column::Integers(values) if *n == name => Some(values.as_slice()),
            _ => None,
        })
    }

    /// A column of names, by name.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&Texts> {
        self.columns.iter().find_map(|(n, column)| match column {
            Column::Texts(values) if *n == name => Some(values),
            _ => None,
        })
    }
}
