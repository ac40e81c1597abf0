//! Assertions in `%{ }%`: the comparisons of Python that scripts use.

use super::Parsed;
use crate::cursor::Cursor;
use crate::script::{Action, Assertion, Comparison, Expression, Operator, ScriptError};

/// Expressions lie within each other so deep at most.
const DEEPEST: usize = 64;

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Parsed, ScriptError> {
    cursor.expect("%{")?;
    let first = cursor.place().line;
    let text = cursor.until("}%")?;
    let mut assertions = Vec::new();
    for (offset, line) in text.split('\n').enumerate() {
        for statement in line.split(';').map(str::trim) {
            if statement.is_empty() || statement.starts_with('#') || is_print(statement) {
                continue;
            }
            let Some(body) =
                statement.strip_prefix("assert").filter(|rest| rest.starts_with([' ', '\t', '(']))
            else {
                return Ok(Parsed::Beyond(format!("Python code beyond asserts: {statement}")));
            };
            let Some(expression) = Reader::new(body).assertion() else {
                return Ok(Parsed::Beyond(format!("Python code beyond comparisons of numbers: {statement}")));
            };
            let text = body.trim().to_owned();
            assertions.push(Assertion { line: first + offset, text, expression });
        }
    }
    Ok(Parsed::Known(Action::Assert(assertions)))
}

/// What a script prints has no effect on it.
fn is_print(statement: &str) -> bool {
    statement.strip_prefix("print").is_some_and(|rest| rest.starts_with([' ', '\t', '(']))
}

/// Reads one expression; `None` where it is beyond the subset.
struct Reader<'a> {
    cursor: Cursor<'a>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { cursor: Cursor::new(text), depth: 0 }
    }

    /// `expression` or `expression, message`; the message is not read.
    fn assertion(mut self) -> Option<Expression> {
        let expression = self.either()?;
        self.cursor.skip_blanks();
        let rest = self.cursor.rest();
        (rest.is_empty() || rest.starts_with([',', '#'])).then_some(expression)
    }

    fn eat(&mut self, text: &str) -> bool {
        self.cursor.skip_blanks();
        self.cursor.eat(text)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.cursor.skip_blanks();
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let comes = self.cursor.rest().strip_prefix(word).is_some_and(ends);
        comes && self.cursor.eat(word)
    }

    fn either(&mut self) -> Option<Expression> {
        let mut parts = vec![self.both()?];
        while self.eat_word("or") {
            parts.push(self.both()?);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Expression::AnyOf(parts) })
    }

    fn both(&mut self) -> Option<Expression> {
        let mut parts = vec![self.negation()?];
        while self.eat_word("and") {
            parts.push(self.negation()?);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
    }

    fn negation(&mut self) -> Option<Expression> {
        self.depth += 1;
        let deep = self.depth > DEEPEST;
        let read = if deep {
            None
        } else if self.eat_word("not") {
            self.negation().map(|inner| Expression::Not(Box::new(inner)))
        } else {
            self.chain()
        };
        self.depth -= 1;
        read
    }

    fn chain(&mut self) -> Option<Expression> {
        let first = self.sum()?;
        let mut links = Vec::new();
        while let Some(comparison) = self.comparison() {
            links.push((comparison, self.sum()?));
        }
        Some(if links.is_empty() { first } else { Expression::Chain(Box::new(first), links) })
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let all = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Different),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        all.into_iter().find_map(|(text, comparison)| self.eat(text).then_some(comparison))
    }

    fn sum(&mut self) -> Option<Expression> {
        self.binary(&[("+", Operator::Plus), ("-", Operator::Minus)], Self::product)
    }

    fn product(&mut self) -> Option<Expression> {
        let operators = [
            ("*", Operator::Times),
            ("//", Operator::DivideWhole),
            ("/", Operator::Divide),
            ("%", Operator::Remainder),
        ];
        self.binary(&operators, Self::atom)
    }

    fn binary(
        &mut self,
        operators: &[(&str, Operator)],
        part: fn(&mut Self) -> Option<Expression>,
    ) -> Option<Expression> {
        let mut left = part(self)?;
        while let Some(operator) =
            operators.iter().find_map(|&(text, operator)| self.eat(text).then_some(operator))
        {
            left = Expression::Binary(Box::new(left), operator, Box::new(part(self)?));
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<Expression> {
        if self.eat("(") {
            self.depth += 1;
            let inner = if self.depth > DEEPEST { None } else { self.either() };
            self.depth -= 1;
            return inner.filter(|_| self.eat(")"));
        }
        if self.eat("-") {
            self.depth += 1;
            let inner = if self.depth > DEEPEST { None } else { self.atom() };
            self.depth -= 1;
            return inner.map(|inner| Expression::Negative(Box::new(inner)));
        }
        self.cursor.skip_blanks();
        if self.cursor.peek()?.is_ascii_digit() {
            let digits = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
            return digits.parse().ok().map(Expression::Number);
        }
        let name = self.cursor.word();
        let is_name = !name.is_empty() && !self.cursor.rest().starts_with(['(', '[', '.']);
        is_name.then(|| Expression::Name(name.to_owned()))
    }
}
