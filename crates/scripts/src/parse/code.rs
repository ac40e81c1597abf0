//! Code in `%{ }%`: the assertions and assignments of Python that scripts use.

use super::Parsed;
use crate::cursor::Cursor;
use crate::script::{Action, Comparison, Expression, Function, Operator, ScriptError, Statement};

/// Expressions lie within each other so deep at most.
const DEEPEST: usize = 64;

/// Operators of two operands by how tightly they bind, the loosest first (Python Language Reference, 6.17).
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("|", Operator::Or)],
    &[("^", Operator::ExclusiveOr)],
    &[("&", Operator::And)],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[
        ("//", Operator::DivideWhole),
        ("/", Operator::Divide),
        ("*", Operator::Times),
        ("%", Operator::Remainder),
    ],
];

const FUNCTIONS: [(&str, Function); 6] = [
    ("abs", Function::Absolute),
    ("min", Function::Least),
    ("max", Function::Largest),
    ("int", Function::Truncated),
    ("round", Function::Rounded),
    ("float", Function::Plain),
];

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Parsed, ScriptError> {
    cursor.expect("%{")?;
    let first = cursor.place().line;
    let text = cursor.until("}%")?;
    let mut statements = Vec::new();
    for (offset, text) in split(text) {
        if has_no_effect(&text) {
            continue;
        }
        match read_statement(&text) {
            Ok((text, assigns, expression)) => {
                statements.push(Statement { line: first + offset, text, assigns, expression });
            }
            Err(reason) => return Ok(Parsed::Beyond(reason)),
        }
    }
    Ok(Parsed::Known(Action::Code(statements)))
}

/// The statements of a text, each with the line that it begins on: they end at a semicolon or the end of a line, unless a
/// bracket is open or a backslash stands before it.
fn split(text: &str) -> Vec<(usize, String)> {
    let mut statements = Vec::new();
    let (mut line, mut begin, mut depth) = (0, 0, 0_i32);
    let mut quote = None;
    let mut current = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends = match (quote, character) {
            (Some(mark), _) => {
                if character == mark || character == '\n' {
                    quote = None;
                }
                false
            }
            (None, '"' | '\'') => {
                quote = Some(character);
                false
            }
            (None, '#') => {
                while characters.peek().is_some_and(|next| *next != '\n') {
                    let _ = characters.next();
                }
                continue;
            }
            (None, '\\') if characters.peek() == Some(&'\n') => {
                let _ = characters.next();
                line += 1;
                current.push(' ');
                continue;
            }
            (None, '(' | '[' | '{') => {
                depth += 1;
                false
            }
            (None, ')' | ']' | '}') => {
                depth -= 1;
                false
            }
            (None, ';' | '\n') => depth <= 0,
            _ => false,
        };
        if ends {
            statements.push((begin, std::mem::take(&mut current)));
        } else {
            if current.trim().is_empty() {
                begin = line;
            }
            current.push(if character == '\n' { ' ' } else { character });
        }
        line += usize::from(character == '\n');
    }
    statements.push((begin, current));
    statements.retain(|(_, statement)| !statement.trim().is_empty());
    statements.into_iter().map(|(begin, statement)| (begin, statement.trim().to_owned())).collect()
}

/// What a script prints or imports has no effect on it.
fn has_no_effect(statement: &str) -> bool {
    let begins = |word: &str| {
        statement.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '(']))
    };
    ["print", "import", "from", "pass"].into_iter().any(begins)
}

/// `assert expression, message` or `name = expression`: its text or name, whether it assigns, and the expression.
fn read_statement(statement: &str) -> Result<(String, bool, Expression), String> {
    let beyond = || format!("Python code beyond comparisons of numbers: {statement}");
    if let Some(body) = statement.strip_prefix("assert").filter(|rest| rest.starts_with([' ', '\t', '('])) {
        let expression = Reader::new(body).assertion().ok_or_else(beyond)?;
        return Ok((body.trim().to_owned(), false, expression));
    }
    let mut reader = Reader::new(statement);
    let name = reader.cursor.word().to_owned();
    reader.cursor.skip_blanks();
    let operators = LEVELS.iter().flat_map(|level| level.iter());
    let changes = operators.copied().find(|(text, _)| reader.eat(&format!("{text}=")));
    let assigns = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && (changes.is_some() || (!reader.cursor.rest().starts_with("==") && reader.eat("=")));
    if !assigns {
        return Err(format!("Python code beyond asserts and assignments: {statement}"));
    }
    let mut expression = reader.assertion().ok_or_else(beyond)?;
    if let Some((_, operator)) = changes {
        let value = Expression::Name(name.clone());
        expression = Expression::Binary(Box::new(value), operator, Box::new(expression));
    }
    Ok((name, true, expression))
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
    fn assertion(&mut self) -> Option<Expression> {
        let expression = self.conditional()?;
        self.cursor.skip_blanks();
        let rest = self.cursor.rest();
        (rest.is_empty() || rest.starts_with(',')).then_some(expression)
    }

    fn eat(&mut self, text: &str) -> bool {
        self.cursor.skip_blanks();
        self.cursor.eat(text)
    }

    /// An operator that is no beginning of a longer one.
    fn eat_operator(&mut self, text: &str) -> bool {
        self.cursor.skip_blanks();
        let behind = self.cursor.rest().strip_prefix(text);
        let whole = |rest: &str| !(text == "*" && rest.starts_with('*'));
        behind.is_some_and(whole) && self.cursor.eat(text)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.cursor.skip_blanks();
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let comes = self.cursor.rest().strip_prefix(word).is_some_and(ends);
        comes && self.cursor.eat(word)
    }

    /// What lies within something else.
    fn within(&mut self, read: fn(&mut Self) -> Option<Expression>) -> Option<Expression> {
        self.depth += 1;
        let inner = if self.depth > DEEPEST { None } else { read(self) };
        self.depth -= 1;
        inner
    }

    fn conditional(&mut self) -> Option<Expression> {
        let value = self.either()?;
        if !self.eat_word("if") {
            return Some(value);
        }
        let condition = self.either()?;
        if !self.eat_word("else") {
            return None;
        }
        let other = self.within(Self::conditional)?;
        Some(Expression::Conditional(Box::new([condition, value, other])))
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
        if self.eat_word("not") {
            return self.within(Self::negation).map(|inner| Expression::Not(Box::new(inner)));
        }
        self.within(Self::chain)
    }

    fn chain(&mut self) -> Option<Expression> {
        let first = self.binary(0)?;
        let negated = self.eat_word("not");
        if self.eat_word("in") {
            let members = self.list()?;
            return Some(Expression::Member(Box::new(first), !negated, members));
        }
        if negated {
            return None;
        }
        let mut links = Vec::new();
        while let Some(comparison) = self.comparison() {
            links.push((comparison, self.binary(0)?));
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

    /// `(a, b)` or `[a, b]`
    fn list(&mut self) -> Option<Vec<Expression>> {
        let end = if self.eat("(") {
            ")"
        } else if self.eat("[") {
            "]"
        } else {
            return None;
        };
        self.members(end)
    }

    fn members(&mut self, end: &str) -> Option<Vec<Expression>> {
        let mut members = Vec::new();
        while !self.eat(end) {
            members.push(self.within(Self::conditional)?);
            if !self.eat(",") && !self.cursor.rest().starts_with(end) {
                return None;
            }
        }
        Some(members)
    }

    fn binary(&mut self, level: usize) -> Option<Expression> {
        let Some(operators) = LEVELS.get(level) else {
            return self.sign();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) =
            operators.iter().find_map(|&(text, operator)| self.eat_operator(text).then_some(operator))
        {
            left = Expression::Binary(Box::new(left), operator, Box::new(self.binary(level + 1)?));
        }
        Some(left)
    }

    fn sign(&mut self) -> Option<Expression> {
        if self.eat("-") {
            return self.within(Self::sign).map(|inner| Expression::Negative(Box::new(inner)));
        }
        if self.eat("~") {
            return self.within(Self::sign).map(|inner| Expression::Inverted(Box::new(inner)));
        }
        if self.eat("+") {
            return self.within(Self::sign);
        }
        let base = self.atom()?;
        if self.eat("**") {
            let power = self.within(Self::sign)?;
            return Some(Expression::Binary(Box::new(base), Operator::Power, Box::new(power)));
        }
        Some(base)
    }

    fn atom(&mut self) -> Option<Expression> {
        if self.eat("(") {
            return self.within(Self::conditional).filter(|_| self.eat(")"));
        }
        self.cursor.skip_blanks();
        if self.cursor.peek()?.is_ascii_digit() || self.cursor.rest().starts_with('.') {
            return self.number();
        }
        let name = self.cursor.word();
        if let Some((_, function)) = FUNCTIONS.iter().find(|(function_name, _)| *function_name == name)
            && self.eat("(")
        {
            let arguments = self.members(")")?;
            let several = matches!(function, Function::Least | Function::Largest);
            let has_room = if several { !arguments.is_empty() } else { arguments.len() == 1 };
            return has_room.then_some(Expression::Function(*function, arguments));
        }
        match name {
            "True" => return Some(Expression::Number(1.0)),
            "False" => return Some(Expression::Number(0.0)),
            _ => {}
        }
        let is_name = !name.is_empty() && !self.cursor.rest().starts_with(['(', '[', '.', '"', '\'']);
        is_name.then(|| Expression::Name(name.to_owned()))
    }

    /// `10`, `0x1f`, `1.5`, `1e6`, `10_000`
    fn number(&mut self) -> Option<Expression> {
        if self.cursor.rest().starts_with("0x") {
            let _ = self.cursor.eat("0x");
            let digits = self.cursor.take_while(|c| c.is_ascii_hexdigit());
            return u64::from_str_radix(digits, 16).ok().map(|value| Expression::Number(value as f64));
        }
        let digits = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        digits.replace('_', "").parse().ok().map(Expression::Number)
    }
}
