import Migrations

/// What Citus does not take, or takes to every machine, of the SQL of one request: the rules that we met (docs/maintainers/scale.md).
///
/// They read text, so they know less than Citus; citus.tsv has what it said.
enum CitusRules {
    static let all: [(name: String, isBroken: @Sendable (String) -> Bool)] = [
        (
            "a volatile function in an UPDATE",
            { $0.contains(/\bUPDATE\b/) && $0.contains(/\b(gen_random_uuid|random|clock_timestamp)\(/) }
        ),
        (
            "a time and an interval in an UPDATE",
            { $0.contains(/\bUPDATE\b/) && $0.contains(/[-+] (make_interval\(|interval |\((EXCLUDED|excluded|\$))/) }
        ),
        ("a slice of an array", { $0.contains(/\)\[[^\]\[]*:[^\]\[]*\]/) }),
        (
            "an INSERT after parts that change rows",
            {
                outside($0).contains(/^WITH\b.*\bINSERT INTO/.dotMatchesNewlines())
                    && $0.contains(/\(\s*(INSERT INTO|UPDATE|DELETE FROM)\b/)
            }
        ),
        (
            "an INSERT of rows of several kinds",
            {
                $0.contains(
                    /INSERT INTO \w+ \([^)]*\)\s*SELECT\b.*\bFROM \(\s*SELECT\b.*\bUNION\b/.dotMatchesNewlines()
                )
            }
        ),
        (
            "a change of what all machines have by what one has",
            { statement in
                let changed = statement.matches(of: /(INSERT INTO|UPDATE|DELETE FROM) (\w+)/).map {
                    String($0.output.2)
                }
                return Distribution.replicated.contains(where: changed.contains) && touchesSpread(statement)
            }
        ),
        (
            "rows of any project",
            { statement in
                statement.matches(of: /\)( WITH ORDINALITY)?\s+(\w+) \(([a-z_, \n]*)\)/).contains { match in
                    let columns = match.output.3.split { ", \n".contains($0) }
                    let row = match.output.2
                    return columns.contains("project") && statement.contains("= \(row).project")
                }
            }
        ),
        (
            "a look-up by another row's project",
            { $0.contains(/LATERAL \(\s*SELECT\b[^()]*project = \w+\.project\b/) }
        ),
        (
            "locks on several machines",
            {
                $0.contains(/\bFOR (NO KEY |KEY )?(UPDATE|SHARE)\b/) && touchesSpread($0)
                    && !$0.contains(/project = \$/)
            }
        ),
        (
            "RETURNING a column of what all machines have",
            { statement in
                let insertions = statement.matches(
                    of: /INSERT INTO (\w+) \([^)]*\)\s*SELECT\b.*\bRETURNING (?!true)/.dotMatchesNewlines()
                )
                return insertions.contains { Distribution.replicated.contains(String($0.output.1)) }
            }
        ),
        (
            "an INSERT of a SELECT that reads nothing, on a condition of its values",
            { $0.contains(/INSERT INTO[^()]*\([^)]*\)\s*SELECT(?:(?!FROM)[\s\S])*WHERE \$\d+::text IS NULL OR/) }
        ),
    ]

    /// The names of the rules that a statement breaks.
    static func broken(by statement: String) -> [String] { all.filter { $0.isBroken(statement) }.map(\.name) }

    private static func touchesSpread(_ statement: String) -> Bool {
        let words = Set(statement.split { !$0.isLetter && $0 != "_" })
        return Distribution.spread.contains { words.contains($0[...]) }
    }

    /// The text outside of all parentheses.
    private static func outside(_ statement: String) -> String {
        var depth = 0
        return String(
            statement.filter { character in
                if character == "(" { depth += 1 }
                defer { if character == ")" { depth -= 1 } }
                return depth == 0
            }
        )
    }
}
