//! The macros by which algorithms declare their parameters.

/// Makes a struct of parameters, with their defaults, bounds, checks, JSON form and description.
///
/// ```
/// use anabranch_units::declaration::{Parameters, above};
///
/// anabranch_units::parameters! {
///     /// CUBIC (RFC 9438).
///     pub struct Cubic {
///         /// Multiplicative decrease (RFC 9438 section 4.6).
///         beta: f64 = 0.7, above(0.0).below(1.0);
///         /// Give up bandwidth to newer flows.
///         fast_convergence: bool = true;
///     }
/// }
///
/// assert_eq!(Cubic::default().beta, 0.7);
/// let refused = Cubic { beta: 1.0, ..Cubic::default() }.check().unwrap_err();
/// assert_eq!(refused.to_string(), "beta is 1; it must be above 0 and below 1");
/// ```
///
/// A parameter whose default is out of its bounds, as NaN always is, has no default: it must be given.
#[macro_export]
macro_rules! parameters {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derived:ident),+)])?
        $vis:vis struct $name:ident {
            $( $(#[doc = $text:literal])+ $field:ident : $type:ty = $default:expr $(, $bounds:expr)? ; )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug, ::serde::Serialize)]
        $(#[derive($($derived),+)])?
        $vis struct $name {
            $( $(#[doc = $text])+ pub $field: $type, )*
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                fn table(
                    mut _fields: $crate::declaration::json::Fields,
                ) -> Result<$name, $crate::declaration::json::Error> {
                    let mut _read = $name::default();
                    $( _fields.read(stringify!($field), &mut _read.$field)?; )*
                    _fields.end(&[$(stringify!($field)),*])?;
                    Ok(_read)
                }
                $crate::declaration::json::read(source, table)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::declaration::Parameters for $name {
            const TEXT: &'static [&'static str] = &[$($doc),+];

            fn declared() -> Vec<$crate::declaration::Parameter> {
                let _default = Self::default();
                vec![ $(
                    $crate::declaration::Parameter::new(stringify!($field), &[$($text),+], &_default.$field)
                        $(.within::<<$type as $crate::declaration::Bounded>::Bound>(&$bounds))?,
                )* ]
            }

            fn check(&self) -> Result<(), $crate::declaration::OutOfRange> {
                $(
                    $crate::declaration::Value::check(&self.$field)
                        .map_err(|problem| problem.within(stringify!($field)))?;
                    $( $crate::declaration::check(stringify!($field), &self.$field, &$bounds)?; )?
                )*
                Ok(())
            }
        }

        impl $crate::declaration::Value for $name {
            const KIND: $crate::declaration::Kind = $crate::declaration::Kind::Table;

            fn plain(&self) -> $crate::declaration::Plain {
                $crate::declaration::Plain::Absent
            }

            fn check(&self) -> Result<(), $crate::declaration::OutOfRange> {
                $crate::declaration::Parameters::check(self)
            }
        }
    };
}

/// Makes an enumeration of algorithms of one kind, each a name and its [`parameters!`](crate::parameters).
///
/// Behind a semicolon at the end may stand a variant for code that the caller brings along. It is no algorithm of the
/// registry: neither listed nor described, and made by nothing but its JSON.
///
/// ```
/// anabranch_units::parameters! {
///     /// A fixed window.
///     pub struct Fixed {
///         /// Segments in flight.
///         segments: u32 = 5, anabranch_units::declaration::at_least(1);
///     }
/// }
/// anabranch_units::registry! {
///     /// How the window is set.
///     pub enum Window: "window" {
///         "fixed" => Fixed(Fixed),
///     }
/// }
///
/// assert_eq!(Window::named("fixed").unwrap().name(), "fixed");
/// assert_eq!(Window::described().algorithms[0].parameters[0].name, "segments");
/// ```
#[macro_export]
macro_rules! registry {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derived:ident),+)])?
        $vis:vis enum $name:ident : $registry:literal {
            $( $algorithm:literal => $variant:ident($parameters:ty) ),+ $(,)?
            $( ; $external:literal => $external_variant:ident($code:ty) )?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug, ::serde::Serialize)]
        $(#[derive($($derived),+)])?
        #[serde(tag = "algorithm")]
        $vis enum $name {
            $(
                #[doc = concat!("`", $algorithm, "`.")]
                #[serde(rename = $algorithm)]
                $variant($parameters),
            )+
            $(
                /// Code of the caller's own.
                #[serde(rename = $external)]
                $external_variant($code),
            )?
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                fn table(
                    mut fields: $crate::declaration::json::Fields,
                ) -> Result<$name, $crate::declaration::json::Error> {
                    match fields.name()?.as_str() {
                        $( $algorithm => Ok($name::$variant(fields.parameters()?)), )+
                        $( $external => Ok($name::$external_variant(fields.parameters()?)), )?
                        other => Err(::serde::de::Error::unknown_variant(
                            other,
                            &[$($algorithm,)+ $($external)?],
                        )),
                    }
                }
                $crate::declaration::json::read(source, table)
            }
        }

        impl $name {
            /// The names, in the order of the registry.
            pub const NAMES: &'static [&'static str] = &[$($algorithm),+];

            /// The algorithm of a name, with its defaults; `None` for an unknown name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $( $algorithm => Some(Self::$variant(Default::default())), )+
                    _ => None,
                }
            }

            /// Its name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Self::$variant(_) => $algorithm, )+
                    $( Self::$external_variant(_) => $external, )?
                }
            }

            /// Checks the parameters against their bounds.
            ///
            /// # Errors
            /// The first that is out of range.
            pub fn check(&self) -> Result<(), $crate::declaration::OutOfRange> {
                match self {
                    $( Self::$variant(parameters) => $crate::declaration::Parameters::check(parameters), )+
                    // The caller knows its parameters.
                    $( Self::$external_variant(_) => Ok(()), )?
                }
            }

            /// All algorithms with their parameters.
            #[must_use]
            pub fn described() -> $crate::declaration::Registry {
                $crate::declaration::Registry {
                    name: $registry,
                    text: $crate::declaration::joined(&[$($doc),+]),
                    external: false $( || !$external.is_empty() )?,
                    algorithms: vec![ $(
                        $crate::declaration::Algorithm {
                            name: $algorithm,
                            text: $crate::declaration::joined(
                                <$parameters as $crate::declaration::Parameters>::TEXT,
                            ),
                            parameters: <$parameters as $crate::declaration::Parameters>::declared(),
                            properties: ::std::collections::BTreeMap::new(),
                        },
                    )+ ],
                }
            }
        }

        impl $crate::declaration::Value for $name {
            const KIND: $crate::declaration::Kind = $crate::declaration::Kind::Algorithm;

            fn plain(&self) -> $crate::declaration::Plain {
                $crate::declaration::Plain::Text(self.name().to_owned())
            }

            fn registry() -> Option<&'static str> {
                Some($registry)
            }

            fn check(&self) -> Result<(), $crate::declaration::OutOfRange> {
                Self::check(self)
            }
        }

        impl $crate::declaration::leaf::Shaped for $name {
            fn shape() -> $crate::declaration::leaf::Shape {
                $crate::declaration::leaf::Shape::Algorithm($registry)
            }
        }
    };
}

/// Makes an enumeration of names for a parameter.
///
/// ```
/// anabranch_units::choice! {
///     /// What a switch does with a new entry when its table is full.
///     pub enum WhenFull {
///         /// It refuses the entry.
///         "refuse" => Refuse,
///         /// It removes the entry that has been idle longest.
///         "evict" => Evict,
///     }
/// }
///
/// use anabranch_units::declaration::Value;
/// assert_eq!(WhenFull::choices()[1].name, "evict");
/// assert_eq!(WhenFull::NAMES[0], ("refuse", WhenFull::Refuse));
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        $vis:vis enum $name:ident {
            $( $(#[doc = $text:literal])+ $word:literal => $variant:ident ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name {
            $( $(#[doc = $text])+ #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// Every one by its name.
            $vis const NAMES: [(&'static str, Self); [$($word),+].len()] = [$( ($word, Self::$variant) ),+];
        }

        impl $crate::declaration::Value for $name {
            const KIND: $crate::declaration::Kind = $crate::declaration::Kind::Choice;

            fn plain(&self) -> $crate::declaration::Plain {
                $crate::declaration::Plain::Text(match self { $( Self::$variant => $word, )+ }.to_owned())
            }

            fn choices() -> Vec<$crate::declaration::Choice> {
                let texts: [&[&str]; Self::NAMES.len()] = [$( &[$($text),+] ),+];
                let named = Self::NAMES.iter().zip(texts);
                named
                    .map(|((name, _), text)| $crate::declaration::Choice {
                        name,
                        text: $crate::declaration::joined(text),
                    })
                    .collect()
            }
        }

        impl $crate::declaration::leaf::Shaped for $name {
            fn shape() -> $crate::declaration::leaf::Shape {
                $crate::declaration::leaf::Shape::Choice(Self::NAMES.map(|(name, _)| name).to_vec())
            }
        }
    };
}
