import Postgres

/// The results of a batch's questions, read from the rows of its statement.
///
/// A row that cannot be read fails only its own question: the statement has already run, so no question may be asked
/// again, and the others have their results.
struct BatchAnswers<Answer: Sendable>: Sendable {
    private var answers: [Answer]
    private var failures: [Int: any Error] = [:]

    /// - Parameter answer: the result of a question without a row.
    init(repeating answer: Answer, count: Int) {
        answers = [Answer](repeating: answer, count: count)
    }

    /// Reads a row whose first column is the number of its question, starting at 1.
    mutating func read(
        _ row: inout PostgresRow,
        _ add: (inout Answer, inout PostgresRow) throws -> Void
    ) throws {
        let index = Int(try row.next(Int64.self)) - 1
        guard answers.indices.contains(index), failures[index] == nil else { return }
        do {
            try add(&answers[index], &row)
        } catch {
            failures[index] = error
        }
    }

    var results: [Result<Answer, any Error>] {
        answers.enumerated().map { index, answer in failures[index].map { .failure($0) } ?? .success(answer) }
    }
}
