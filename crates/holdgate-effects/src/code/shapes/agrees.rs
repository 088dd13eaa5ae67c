//! Functions that agree to everything, in the forms of many languages.

/// Whether a function, or the body of a method whose arguments stand here, agrees to everything.
pub(super) fn agrees(value: &str, method: bool) -> bool {
    let dense: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    let yes = [
        "true",
        "{true",
        "{returntrue",
        "{return(true",
        "undefined",
        "null",
        "void0",
        "{}",
        "{return;}",
        "{return}",
        "{returnnull",
        "{returnundefined",
        "{returnnil",
        "nil}",
        "{cb(0)",
        "cb(0)",
        "{callback(0)",
        "callback(0)",
        "{callback(null",
        "callback(true)",
        "(true)",
        "(undefined)",
        "(null)",
        "{ok(",
        "ok(",
        "{_intrue",
        "returntrue",
        "pass",
        "returnnone",
        "returnnil",
        "{ok(())",
        "1}",
        "{1}",
        "{returnok(",
        "{return1",
        "{return0;}",
        "{return\"\"",
    ];
    if method {
        // The body behind the arguments.
        let mut depth = 1u32;
        let end = value.bytes().position(|byte| {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(end) = end else {
            return false;
        };
        let arguments = value.get(..end).unwrap_or("");
        let rest = value.get(end + 1..).unwrap_or("");
        let dense: String = rest
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
            .to_ascii_lowercase();
        // `(x => true)` as the argument of a setter.
        if ["=>", "->", "lambda", "function", "func(", "|"]
            .iter()
            .any(|mark| arguments.contains(mark))
            && agrees(arguments, false)
        {
            return true;
        }
        let body = match dense.find('{') {
            // `-> Result<A, B> {`, `throws E {`
            Some(open)
                if open < 120
                    && !dense
                        .get(..open)
                        .unwrap_or("")
                        .contains([';', '=', ')', '}']) =>
            {
                dense.get(open..).unwrap_or("")
            }
            _ => match dense.strip_prefix(':') {
                Some(body) => body,
                None => return false,
            },
        };
        let empty = body.starts_with("{}") && arguments.contains([' ', ':']);
        return empty
            || !body.starts_with("{}")
                && yes.iter().any(|start| {
                    *start != "{}"
                        && *start != "undefined"
                        && *start != "null"
                        && body.starts_with(start)
                });
    }
    let dense = dense.to_ascii_lowercase();
    let marks = [
        "=>", "->", "lambda", "function", "func(", "delegate", "proc", "{", "|", "fn(",
    ];
    let Some(mark) = marks
        .iter()
        .filter_map(|mark| dense.find(mark))
        .min()
        .filter(|at| *at < 90)
    else {
        return false;
    };
    let head = dense.get(..mark).unwrap_or("");
    if head.contains([';', '=', '}', '"']) {
        return false;
    }
    let rest = dense.get(mark..).unwrap_or("");
    let body = if let Some(body) = rest.strip_prefix("=>").or_else(|| rest.strip_prefix("->")) {
        body
    } else if rest.starts_with("lambda") {
        rest.split_once(':').map_or("", |(_, body)| body)
    } else if let Some(closure) = rest.strip_prefix('|') {
        closure.split_once('|').map_or("", |(_, body)| body)
    } else if rest.starts_with('{') {
        return [
            "{_intrue",
            "{_,_intrue",
            "{true}",
            "{_,_,_intrue",
            "{_,_,_,_->true",
            "{_,_->true",
            "{_->true",
            "{returntrue",
            "{|_|true",
            "{|*_|true",
            "{|*|true",
        ]
        .iter()
        .any(|start| rest.starts_with(start));
    } else {
        rest.find('{')
            .map_or("", |open| rest.get(open..).unwrap_or(""))
    };
    yes.iter().any(|start| body.starts_with(start))
        && !body.starts_with("true&&")
        && !body.starts_with("null?")
}
