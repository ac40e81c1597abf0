//! Shell commands as the words that they consist of: nothing is run.

/// The commands of a text, each with the line that it begins on. Comments and redirections to nowhere are left out, a
/// redirection to a file stands as `>` and its name, and `$((15*1024))` is its value.
pub(super) fn commands(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut splitter = Splitter::default();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (splitter.quote, character) {
            (None, '\\') if characters.peek() == Some(&'\n') => {
                let _ = characters.next();
                splitter.line += 1;
                splitter.end_word();
            }
            (_, '\\') => {
                if let Some(next) = characters.next() {
                    splitter.push(next);
                }
            }
            (Some(mark), _) if character == mark => splitter.quote = None,
            (Some('\''), _) => splitter.push(character),
            (_, '$') if characters.peek() == Some(&'(') => {
                splitter.push_substitution(&mut characters);
            }
            (Some(_), _) => splitter.push(character),
            (None, '"' | '\'') => {
                splitter.quote = Some(character);
                let _ = splitter.word.get_or_insert_default();
            }
            (None, '#') if splitter.word.is_none() => {
                while characters.peek().is_some_and(|next| *next != '\n') {
                    let _ = characters.next();
                }
            }
            (None, '\n') => {
                splitter.end_command();
                splitter.line += 1;
            }
            (None, ';' | '|' | '&') if !splitter.is_descriptor() => {
                let _ = characters.next_if_eq(&character);
                splitter.end_command();
            }
            (None, '>') => {
                // The number of the stream before it, as in 2>.
                let _ = splitter.word.take_if(|word| word.chars().all(|c| c.is_ascii_digit()));
                splitter.end_word();
                let _ = characters.next_if_eq(&'>');
                splitter.push('>');
                if characters.next_if_eq(&'&').is_some() {
                    splitter.push('&');
                } else {
                    splitter.end_word();
                }
            }
            (None, ' ' | '\t' | '\r') => splitter.end_word(),
            _ => splitter.push(character),
        }
    }
    splitter.end_command();
    splitter.commands
}

#[derive(Default)]
struct Splitter {
    commands: Vec<(usize, Vec<String>)>,
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    line: usize,
    begin: usize,
}

impl Splitter {
    fn push(&mut self, character: char) {
        if self.words.is_empty() && self.word.is_none() {
            self.begin = self.line;
        }
        self.word.get_or_insert_default().push(character);
        self.line += usize::from(character == '\n');
    }

    /// Whether an `&` would belong to `>&`.
    fn is_descriptor(&self) -> bool {
        self.word.as_deref() == Some(">")
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let mut words = std::mem::take(&mut self.words);
        // Output that nobody sees, and streams that are joined.
        words.retain(|word| !word.starts_with(">&"));
        while let Some(at) = words.windows(2).position(|pair| pair == [">", "/dev/null"]) {
            let _ = words.drain(at..at + 2);
        }
        if !words.is_empty() {
            self.commands.push((self.begin, words));
        }
    }

    /// Behind `$`: the value of `((a*b))`, or the text of `(command)` as it stands.
    fn push_substitution(&mut self, characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        let mut inside = String::new();
        let mut depth = 0;
        for character in characters.by_ref() {
            inside.push(character);
            depth += i32::from(character == '(') - i32::from(character == ')');
            if depth == 0 {
                break;
            }
        }
        let product = inside.strip_prefix("((").and_then(|text| text.strip_suffix("))")).and_then(product);
        match product {
            Some(value) => value.to_string().chars().for_each(|digit| self.push(digit)),
            None => format!("${inside}").chars().for_each(|character| self.push(character)),
        }
    }
}

/// The value of numbers that are multiplied.
fn product(text: &str) -> Option<u64> {
    text.split('*').try_fold(1_u64, |value, factor| value.checked_mul(factor.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_are_split_as_a_shell_splits_them() {
        let text =
            "sysctl -q a=1 b=\"2 $((3*4))\" # why\n# c\necho 3 > /sys/x 2>&1; tc a \\\n b >/dev/null || true";
        let expected = [
            (0, vec!["sysctl", "-q", "a=1", "b=2 12"]),
            (2, vec!["echo", "3", ">", "/sys/x"]),
            (2, vec!["tc", "a", "b"]),
            (3, vec!["true"]),
        ];
        let split = commands(text);
        let split: Vec<(usize, Vec<&str>)> =
            split.iter().map(|(line, words)| (*line, words.iter().map(String::as_str).collect())).collect();
        assert_eq!(split, expected);
    }
}
