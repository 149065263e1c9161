import HTTPTypes
package import Outbound
package import Projects
package import Secrets
import StrictJSON
import Text

/// Asks a project's verifier about a CAPTCHA response, by the protocol that Turnstile, hCaptcha and reCAPTCHA share:
/// a form with `secret`, `response` and `remoteip`, and a JSON object in return.
package struct CaptchaService: Sendable {
    private let http: OutboundClient

    package init(through http: OutboundClient) { self.http = http }

    /// What the verifier says of a response.
    package struct Verdict: Sendable, Hashable {
        package var isSuccess: Bool
        /// Of the page that showed the CAPTCHA; nil for a native app.
        package var hostname: String?
        /// 0 to 1, from program to person.
        package var score: Double?
    }

    package enum Failure: Error, Sendable, Hashable {
        /// The verifier cannot be reached or has an error of its own.
        case down(String)
        /// The node has too many calls in progress, or the verifier refuses ours: no reason to let anyone pass.
        case refused(String)
    }

    /// The verifier, too, accepts a response once.
    ///
    /// - Parameter address: of the client, if known.
    package func verdict(
        on response: Secret,
        by verifier: CaptchaVerifier,
        address: String?,
        for project: ProjectID
    ) async throws(Failure) -> Verdict {
        var form: [(String, String)] = [("secret", verifier.secret.reveal()), ("response", response.reveal())]
        if let address { form.append(("remoteip", address)) }
        let request = OutboundRequest(
            method: .post,
            url: verifier.verificationURL,
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: Array(FormFields(pairs: form).text.utf8),
            maximumResponseSize: 65_536,
            timeLimit: .seconds(5)
        )
        let answer: OutboundResponse
        do {
            answer = try await OutboundShare.with(project.rawValue) { [http] () async throws(OutboundError) in
                try await http.send(request)
            }
        } catch {
            switch error {
            case .unreachable, .timedOut: throw .down(error.description)
            case .invalidURL, .refusedAddress, .tooLarge, .malformedResponse, .busy, .cancelled:
                throw .refused(error.description)
            }
        }
        guard answer.status < 500 else { throw .down("status \(answer.status)") }
        guard let object = (try? JSONValue(parsing: answer.body, depth: 8))?.object,
            case .bool(let isSuccess)? = object["success"]
        else { throw .refused("status \(answer.status), without a verdict") }
        return Verdict(
            isSuccess: isSuccess,
            hostname: object["hostname"]?.string,
            score: object["score"].flatMap { Self.score($0, of: verifier.service) }
        )
    }

    private static func score(_ value: JSONValue, of service: CaptchaVerifier.Service) -> Double? {
        guard case .number(let text) = value, let score = Double(text) else { return nil }
        return service.scoresRisk ? 1 - score : score
    }
}
