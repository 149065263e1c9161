import HTTPTypes
package import Outbound
package import Projects
package import Prometheus
import StrictJSON

/// Calls a project's blocking function, once, with a limit of seven seconds.
package struct FunctionCaller: Sendable {
    private let http: OutboundClient
    private let timeLimit: Duration
    /// Of whoever asks: to be entered before each call, and left after it.
    package let shares: FunctionShares
    /// The results of the calls.
    package let calls = Timings<Call>()

    package struct Call: Hashable, Sendable {
        package var event: BlockingFunctions.Event
        package var outcome: Outcome

        package init(event: BlockingFunctions.Event, outcome: Outcome) { (self.event, self.outcome) = (event, outcome) }
    }

    package enum Outcome: String, Sendable, CaseIterable {
        case ok
        /// Another status than 2xx.
        case refused
        case timedOut = "timed_out"
        case unreachable
        case malformed
    }

    package init(through http: OutboundClient, timeLimit: Duration = .seconds(7)) {
        self.http = http
        self.timeLimit = timeLimit
        shares = FunctionShares(limit: max(http.limits.requestsPerShare / 4, 1))
    }

    /// The maximum size of a response in bytes.
    private static let maximumSize = 65_536

    /// - Parameters:
    ///   - project: whose share of the host's requests it uses.
    ///   - jwt: the signed input.
    package func ask(
        _ url: String,
        of event: BlockingFunctions.Event,
        for project: ProjectID,
        jwt: String
    ) async throws(FunctionError) -> FunctionAnswer {
        let start = ContinuousClock.now
        var outcome = Outcome.ok
        defer { calls.record(Call(event: event, outcome: outcome), start.duration(to: .now)) }
        do throws(FunctionError) {
            return try await OutboundShare.with(project.rawValue) { () async throws(FunctionError) -> FunctionAnswer in
                try await send(url, jwt)
            }
        } catch {
            outcome = error.outcome
            throw error
        }
    }

    private func send(_ url: String, _ jwt: String) async throws(FunctionError) -> FunctionAnswer {
        var request = OutboundRequest(
            method: .post,
            url: url,
            headers: [.contentType: "application/json"],
            body: Array(#"{"data":{"jwt":"\#(jwt)"}}"#.utf8),
            maximumResponseSize: Self.maximumSize,
            timeLimit: timeLimit
        )
        request.sharesTraceState = true
        let response: OutboundResponse
        do {
            response = try await http.send(request)
        } catch {
            throw error == .timedOut ? .timedOut : .unreachable(error.description)
        }
        guard response.isSuccess else {
            throw .refused(
                status: response.status,
                text: Self.object(response.body).map { JSONValue.object($0).jsonText }
            )
        }
        return try FunctionAnswer(response.body)
    }

    fileprivate static func object(_ body: [UInt8]) -> JSONObject? {
        (try? JSONValue(parsing: body, depth: 32))?.object
    }
}

/// Why a blocking function did not allow a sign-in or sign-up.
package enum FunctionError: Error, Sendable, Hashable {
    case timedOut
    /// The cause, for the log.
    case unreachable(String)
    /// With the response, if it is a JSON object.
    case refused(status: Int, text: String?)
    /// The response is not valid for a function.
    case malformed

    fileprivate var outcome: FunctionCaller.Outcome {
        switch self {
        case .timedOut: .timedOut
        case .unreachable: .unreachable
        case .refused: .refused
        case .malformed: .malformed
        }
    }
}

/// A function's changes; nil leaves a member unchanged, `.some(nil)` empties it.
package struct FunctionAnswer: Sendable, Hashable {
    package var displayName: String??
    package var photoURL: String??
    package var emailVerified: Bool?
    package var disabled: Bool?
    /// A JSON object as text.
    package var customClaims: String??
    /// A JSON object as text.
    package var sessionClaims: String??

    package init() {}

    /// Reads the members in `userRecord.updateMask`.
    ///
    /// An empty response changes nothing; unknown members are ignored.
    init(_ body: [UInt8]) throws(FunctionError) {
        guard !body.isEmpty else { return }
        guard let answer = FunctionCaller.object(body) else { throw .malformed }
        guard let member = answer["userRecord"], !member.isNull else { return }
        guard let record = member.object, case .string(let mask)? = record["updateMask"] else { throw .malformed }
        for name in mask.split(separator: ",").map({ String($0.filter { $0 != " " }) }) {
            let value = record[name] ?? .null
            switch name {
            case "displayName": displayName = .some(try Self.text(value))
            case "photoUrl", "photoURL": photoURL = .some(try Self.text(value))
            case "emailVerified": emailVerified = try Self.flag(value)
            case "disabled": disabled = try Self.flag(value)
            case "customClaims": customClaims = .some(try Self.claims(value))
            case "sessionClaims": sessionClaims = .some(try Self.claims(value))
            default: break
            }
        }
    }

    private static func text(_ value: JSONValue) throws(FunctionError) -> String? {
        switch value {
        case .null: nil
        case .string(let text): text
        default: throw .malformed
        }
    }

    private static func flag(_ value: JSONValue) throws(FunctionError) -> Bool {
        guard case .bool(let flag) = value else { throw .malformed }
        return flag
    }

    private static func claims(_ value: JSONValue) throws(FunctionError) -> String? {
        switch value {
        case .null: nil
        case .object: value.jsonText
        default: throw .malformed
        }
    }
}
