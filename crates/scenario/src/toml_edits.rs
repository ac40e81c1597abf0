//! Changes of a TOML text in place: comments, order and blanks of everything else stay.

use crate::field_path::Step;
use crate::words::quoted;
use toml_edit::{Array, ArrayOfTables, Decor, DocumentMut, InlineTable, Item, Key, Table, Value};

/// Tables up to this depth get a header of their own where they are made; deeper ones stand in a line.
const DEEPEST_HEADER: usize = 2;

/// What becomes of a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// It gets this value, written as TOML.
    Set(String),
    /// The list there gets another entry behind its last one, an inline table written as TOML.
    Append(String),
    /// It goes, with the comment above it.
    Remove,
}

/// A text with changes at places, in this order.
///
/// Tables on the way are made, entries of lists must exist. The plain name of an algorithm becomes a table, so that
/// `congestion_control.beta` can be set where `congestion_control` is `"cubic"`.
///
/// # Errors
/// What is wrong, where the text or a value is no TOML, or a place leads nowhere.
pub fn edited(text: &str, changes: &[(Vec<Step>, Change)]) -> Result<String, String> {
    // The editor writes line feeds alone.
    let has_crlf = text.contains("\r\n");
    let plain = if has_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
    let mut document: DocumentMut = plain.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    for (steps, change) in changes {
        in_item(document.as_item_mut(), steps, 0, change).map_err(|()| nowhere(steps))??;
    }
    let changed = document.to_string();
    Ok(if has_crlf { changed.replace('\n', "\r\n") } else { changed })
}

/// A change that was made, or the mistake in its value; the outer error is a place that leads nowhere.
type Changed = Result<Result<(), String>, ()>;

fn nowhere(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => path = format!("{path}.{key}"),
            Step::Entry(entry) => path = format!("{path}[{entry}]"),
        }
    }
    format!("{} leads to no place in the text", quoted(&path))
}

fn in_item(item: &mut Item, steps: &[Step], depth: usize, change: &Change) -> Changed {
    match (item, steps) {
        (Item::Table(table), [Step::Key(key)]) => Ok(in_table(table, key, depth, change)),
        (Item::Table(table), [Step::Key(key), rest @ ..]) => {
            if !table.contains_key(key) {
                if *change == Change::Remove {
                    return Err(());
                }
                table.insert(key, made(rest, depth + 1));
            }
            in_item(table.get_mut(key).ok_or(())?, rest, depth + 1, change)
        }
        (Item::ArrayOfTables(list), [Step::Entry(entry)]) => match change {
            Change::Remove if *entry < list.len() => {
                list.remove(*entry);
                Ok(Ok(()))
            }
            Change::Set(text) => Ok(table_of(text).map(|mut table| {
                if let Some(old) = list.get_mut(*entry) {
                    *table.decor_mut() = old.decor().clone();
                    table.set_position(old.position());
                    *old = table;
                }
            })),
            _ => Err(()),
        },
        (Item::ArrayOfTables(list), [Step::Entry(entry), Step::Key(key)]) => {
            Ok(in_table(list.get_mut(*entry).ok_or(())?, key, DEEPEST_HEADER, change))
        }
        (Item::ArrayOfTables(list), [Step::Entry(entry), Step::Key(key), rest @ ..]) => {
            let table = list.get_mut(*entry).ok_or(())?;
            if !table.contains_key(key) {
                if *change == Change::Remove {
                    return Err(());
                }
                table.insert(key, made(rest, DEEPEST_HEADER + 1));
            }
            in_item(table.get_mut(key).ok_or(())?, rest, DEEPEST_HEADER + 1, change)
        }
        (Item::Value(value), steps) => in_value(value, steps, change),
        _ => Err(()),
    }
}

/// What stands at a key that leads on: a table with a header, or in a line.
fn made(rest: &[Step], depth: usize) -> Item {
    let is_list = matches!(rest.first(), Some(Step::Entry(_)));
    if is_list {
        Item::Value(Array::new().into())
    } else if depth <= DEEPEST_HEADER {
        let mut table = Table::new();
        table.decor_mut().set_prefix("\n");
        // A table that holds tables alone needs no header.
        table.set_implicit(rest.len() > 1);
        Item::Table(table)
    } else {
        Item::Value(InlineTable::new().into())
    }
}

fn in_table(table: &mut Table, key: &str, depth: usize, change: &Change) -> Result<(), String> {
    match change {
        Change::Remove => {
            table.remove(key);
        }
        Change::Set(text) => {
            let mut value = value_of(text)?;
            let is_empty_table = value.as_inline_table().is_some_and(InlineTable::is_empty);
            match table.get_mut(key) {
                None if is_empty_table && depth < DEEPEST_HEADER => {
                    let mut made = Table::new();
                    made.decor_mut().set_prefix("\n");
                    table.insert(key, Item::Table(made));
                    return Ok(());
                }
                Some(Item::Value(old)) => {
                    *value.decor_mut() = old.decor().clone();
                    *old = value;
                }
                Some(_) => {
                    table.remove(key);
                    table.insert_formatted(&Key::new(key), Item::Value(value));
                }
                None => {
                    table.insert_formatted(&Key::new(key), Item::Value(value));
                }
            }
            // Without a header, its keys would stand in the table above.
            table.set_implicit(false);
        }
        Change::Append(text) => match table.get_mut(key) {
            Some(Item::ArrayOfTables(list)) => list.push(table_of(text)?),
            Some(Item::Value(Value::Array(list))) => list.push_formatted(spaced(value_of(text)?, list.len())),
            Some(_) => return Err(format!("{} is no list", quoted(key))),
            None if depth < DEEPEST_HEADER => {
                let mut list = ArrayOfTables::new();
                list.push(table_of(text)?);
                table.insert(key, Item::ArrayOfTables(list));
            }
            None => {
                let mut list = Array::new();
                list.push_formatted(value_of(text)?);
                table.insert(key, Item::Value(list.into()));
            }
        },
    }
    Ok(())
}

fn in_value(value: &mut Value, steps: &[Step], change: &Change) -> Changed {
    if let (Value::String(name), [Step::Key(_), ..]) = (&*value, steps) {
        let decor = value.decor().clone();
        let mut table = InlineTable::new();
        table.insert("algorithm", name.value().as_str().into());
        *value = Value::InlineTable(table);
        *value.decor_mut() = decor;
    }
    match (value, steps) {
        (Value::InlineTable(table), [Step::Key(key)]) => Ok(in_line(table, key, change)),
        (Value::InlineTable(table), [Step::Key(key), rest @ ..]) => {
            if !table.contains_key(key) {
                let is_list = matches!(rest.first(), Some(Step::Entry(_)));
                let made: Value = if is_list { Array::new().into() } else { InlineTable::new().into() };
                table.insert(key, made);
            }
            in_value(table.get_mut(key).ok_or(())?, rest, change)
        }
        (Value::Array(list), [Step::Entry(entry)]) if *entry < list.len() => match change {
            Change::Remove => {
                list.remove(*entry);
                Ok(Ok(()))
            }
            Change::Set(text) => Ok(value_of(text).map(|mut new| {
                if let Some(old) = list.get_mut(*entry) {
                    *new.decor_mut() = old.decor().clone();
                    *old = new;
                }
            })),
            Change::Append(_) => Err(()),
        },
        (Value::Array(list), [Step::Entry(entry), rest @ ..]) => {
            in_value(list.get_mut(*entry).ok_or(())?, rest, change)
        }
        _ => Err(()),
    }
}

fn in_line(table: &mut InlineTable, key: &str, change: &Change) -> Result<(), String> {
    match change {
        Change::Remove => {
            table.remove(key);
        }
        Change::Set(text) => {
            let mut value = value_of(text)?;
            match table.get_mut(key) {
                Some(old) => {
                    *value.decor_mut() = old.decor().clone();
                    *old = value;
                }
                None => {
                    table.insert(key, value);
                }
            }
        }
        Change::Append(text) => {
            let value = value_of(text)?;
            match table.get_mut(key) {
                Some(Value::Array(list)) => list.push_formatted(spaced(value, list.len())),
                Some(_) => return Err(format!("{} is no list", quoted(key))),
                None => {
                    table.insert(key, Array::from_iter([value]).into());
                }
            }
        }
    }
    Ok(())
}

fn value_of(text: &str) -> Result<Value, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

/// An entry of a list with a blank between it and the one before.
fn spaced(mut value: Value, before: usize) -> Value {
    *value.decor_mut() = Decor::new(if before > 0 { " " } else { "" }, "");
    value
}

/// A table of its own, from an inline one; a blank line stands above it.
fn table_of(text: &str) -> Result<Table, String> {
    match value_of(text)? {
        Value::InlineTable(line) => {
            let mut table = Table::new();
            for (key, value) in line {
                let mut value = value;
                value.decor_mut().clear();
                table.insert(&key, Item::Value(value));
            }
            table.decor_mut().set_prefix("\n");
            Ok(table)
        }
        _ => Err("an entry is a table".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_path::field_path;

    fn change(text: &str, place: &str, change: Change) -> Result<String, String> {
        edited(text, &[(field_path(place).expect("a path"), change)])
    }

    fn set(text: &str, place: &str, value: &str) -> String {
        change(text, place, Change::Set(value.to_owned())).expect("a place")
    }

    #[test]
    fn a_value_changes_and_everything_around_it_stays() {
        let text =
            "# top\ntitle = \"a\"\n\n[run]   # when\nduration =  \"1 s\"  # how long\nseed = 1\n# end\n";
        assert_eq!(set(text, "run.duration", "\"2 s\""), text.replace("\"1 s\"", "\"2 s\""));
        let windows = text.replace('\n', "\r\n");
        assert_eq!(set(&windows, "run.seed", "7"), windows.replace("seed = 1", "seed = 7"));
    }

    #[test]
    fn values_inside_lines_and_lists_change() {
        let text = "x = { a = 1, b = [1, { c = 2 }] } # k\n[[t]]\nn = 1 # one\n\n[[t]]\nn = 2\n";
        assert_eq!(set(text, "x.b[1].c", "3"), text.replace("c = 2", "c = 3"));
        assert_eq!(set(text, "x.b[0]", "5"), text.replace("[1,", "[5,"));
        assert_eq!(set(text, "t[1].n", "9"), text.replace("n = 2", "n = 9"));
        assert_eq!(set(text, "t[0].m", "'new'"), text.replace("# one\n", "# one\nm = 'new'\n"));
    }

    #[test]
    fn tables_on_the_way_are_made() {
        assert_eq!(set("a = 1\n", "routing", "{}"), "a = 1\n\n[routing]\n");
        assert_eq!(set("a = 1\n", "run.seed", "2"), "a = 1\n\n[run]\nseed = 2\n");
        assert_eq!(set("a = 1\n", "n.links.capacity", "'x'"), "a = 1\n\n[n.links]\ncapacity = 'x'\n");
        assert_eq!(
            set("[n.links]\nb = 1\n", "n.links.q.limit", "2"),
            "[n.links]\nb = 1\nq = { limit = 2 }\n"
        );
        assert_eq!(set("[n.links]\nb = 1\n", "n.topology", "'t'"), "[n]\ntopology = 't'\n[n.links]\nb = 1\n");
        assert_eq!(
            set("[c]\nx = \"cubic\" # k\n", "c.x.beta", "0.5"),
            "[c]\nx = { algorithm = \"cubic\", beta = 0.5 } # k\n"
        );
    }

    #[test]
    fn entries_come_behind_the_last_one_and_go() {
        let text = "[[n.link]]\na = 1\n\n[n.links]\nb = 2 # k\n\n[[t]]\nc = 3\n";
        let more = change(text, "n.link", Change::Append("{ a = 2, d = \"x\" }".to_owned()));
        assert_eq!(more.expect("a list"), text.replace("a = 1\n", "a = 1\n\n[[n.link]]\na = 2\nd = \"x\"\n"));
        let first = change(text, "event", Change::Append("{ at = \"1 s\" }".to_owned()));
        assert_eq!(first.expect("a table"), format!("{text}\n[[event]]\nat = \"1 s\"\n"));
        let line = change("to = [\"a\"]\n", "to", Change::Append("\"b\"".to_owned()));
        assert_eq!(line.expect("a list"), "to = [\"a\", \"b\"]\n");
        assert_eq!(
            change(text, "t[0]", Change::Remove).expect("there"),
            text.replace("\n[[t]]\nc = 3\n", "")
        );
        assert_eq!(
            change(text, "n.links.b", Change::Remove).expect("there"),
            text.replace("b = 2 # k\n", "")
        );
    }

    #[test]
    fn a_place_that_leads_nowhere_is_told() {
        let message = change("[[t]]\nn = 1\n", "t[3].n", Change::Set("2".to_owned()));
        assert_eq!(message.expect_err("no entry"), "\"t[3].n\" leads to no place in the text");
        assert!(change("n = 1\n", "n", Change::Set("a b".to_owned())).is_err());
        assert!(change("n = \n", "n", Change::Set("1".to_owned())).is_err());
        assert!(change("n = 1\n", "n", Change::Append("1".to_owned())).is_err());
    }
}
