use super::*;

crate::choice! {
    /// A shape.
    enum Shape {
        /// Round
        /// and whole.
        "round" => Round,
        /// With corners.
        "square" => Square,
    }
}

crate::parameters! {
    /// Something
    /// with everything.
    struct Everything {
        /// A switch.
        on: bool = true;
        /// A count.
        count: u16 = 3, at_least(1).at_most(255);
        /// A share.
        share: f64 = 0.5, above(0.0).below(1.0);
        /// A pause.
        pause: Span = Span::from_ms(40), above(Span::ZERO).at_most(Span::from_secs(2));
        /// A size.
        size: u64 = 1460, at_least(88).bytes();
        /// An end.
        end: Option<u32> = None, at_least(1);
        /// A shape.
        shape: Shape = Shape::Round;
        /// Any number.
        any: f64 = 0.0, Bounds::none();
        /// A share that must be given.
        given: f64 = f64::NAN, at_least(0.0).at_most(1.0);
        /// A time that must be given.
        gap: Span = Span::ZERO, above(Span::ZERO);
        /// Any whole number.
        whole: u32 = 0, Bounds::none();
    }
}

crate::parameters! {
    /// Nothing.
    struct Nothing {}
}

crate::registry! {
    /// Test algorithms.
    enum Test: "test" {
        "every-thing" => Everything(Everything),
        "nothing" => Nothing(Nothing),
    }
}

fn given() -> Everything {
    Everything { given: 0.0, gap: Span::from_ps(1), ..Everything::default() }
}

fn refused(change: impl Fn(&mut Everything)) -> String {
    let mut all = given();
    change(&mut all);
    Test::Everything(all).check().unwrap_err().to_string()
}

#[test]
fn values_at_the_edges() {
    type Change = fn(&mut Everything);
    let held: [Change; 7] = [
        |e| e.count = 1,
        |e| e.count = 255,
        |e| e.share = f64::MIN_POSITIVE,
        |e| e.pause = Span::from_ps(1),
        |e| e.pause = Span::from_secs(2),
        |e| e.end = Some(1),
        |e| e.any = -1e300,
    ];
    for change in held {
        let mut all = given();
        change(&mut all);
        assert_eq!(Test::Everything(all).check(), Ok(()));
    }
    assert_eq!(refused(|e| e.count = 0), "count is 0; it must be at least 1 and at most 255");
    assert_eq!(refused(|e| e.count = 256), "count is 256; it must be at least 1 and at most 255");
    assert_eq!(refused(|e| e.share = 0.0), "share is 0; it must be above 0 and below 1");
    assert_eq!(refused(|e| e.share = 1.0), "share is 1; it must be above 0 and below 1");
    assert_eq!(refused(|e| e.share = f64::NAN), "share is NaN; it must be above 0 and below 1");
    assert_eq!(refused(|e| e.pause = Span::ZERO), "pause is 0 ps; it must be above 0 ps and at most 2 s");
    assert_eq!(refused(|e| e.end = Some(0)), "end is 0; it must be at least 1");
    assert_eq!(refused(|e| e.any = f64::INFINITY), "any is inf; it must be a finite number");
}

/// A default out of bounds is none.
#[test]
fn what_has_no_default_must_be_given() {
    let refused = Test::named("every-thing").unwrap().check().unwrap_err().to_string();
    assert_eq!(refused, "given is NaN; it must be at least 0 and at most 1");
    let partly = Everything { given: 1.0, ..Everything::default() };
    assert_eq!(
        Test::Everything(partly).check().unwrap_err().to_string(),
        "gap is 0 ps; it must be above 0 ps"
    );
    for parameter in &Test::described().algorithms[0].parameters {
        let required = ["given", "gap"].contains(&parameter.name);
        assert_eq!(parameter.required, required, "{}", parameter.name);
        assert!(!required || parameter.default == Plain::Absent);
    }
}

#[test]
fn descriptions_say_everything() {
    let described = Test::described();
    assert_eq!((described.name, described.text.as_str()), ("test", "Test algorithms."));
    let everything = &described.algorithms[0];
    assert_eq!((everything.name, everything.text.as_str()), ("every-thing", "Something with everything."));
    let kinds: Vec<Kind> = everything.parameters.iter().map(|parameter| parameter.kind).collect();
    let of = [
        Kind::Switch,
        Kind::Integer,
        Kind::Number,
        Kind::Span,
        Kind::Bytes,
        Kind::Integer,
        Kind::Choice,
        Kind::Number,
        Kind::Number,
        Kind::Span,
        Kind::Integer,
    ];
    assert_eq!(kinds, of);
    // No type below zero is there in the other language.
    assert_eq!(everything.parameters[10].least, Plain::Integer(0));
    let count = &everything.parameters[1];
    assert_eq!((&count.least, &count.most), (&Plain::Integer(1), &Plain::Integer(255)));
    assert_eq!(count.default, Plain::Integer(3));
    let end = &everything.parameters[5];
    assert!(end.optional && end.default == Plain::Absent);
    assert_eq!(everything.parameters[6].choices[0].text, "Round and whole.");
    assert_eq!(Test::NAMES, ["every-thing", "nothing"]);
    assert_eq!(Test::named("nothing"), Some(Test::Nothing(Nothing {})));
    assert_eq!(Test::named("else"), None);
}
