//! Tables of results: columns with their units in their names.

/// A column of a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Counts and ids.
    Integers(Vec<u64>),
    /// Measurements; NaN where there is none.
    Numbers(Vec<f64>),
    /// Names.
    Texts(Vec<String>),
}

impl Column {
    /// Rows in it.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
    pub fn texts(&mut self, name: &'static str, values: impl Iterator<Item = String>) {
        self.columns.push((name, Column::Texts(values.collect())));
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
    pub fn text(&self, name: &str) -> Option<&[String]> {
        self.columns.iter().find_map(|(n, column)| match column {
            Column::Texts(values) if *n == name => Some(values.as_slice()),
            _ => None,
        })
    }
}
