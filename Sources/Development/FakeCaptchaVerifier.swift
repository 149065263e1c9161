import HTTPTypes
import IdentityService
import NIOCore
import Text

/// A verifier of CAPTCHAs for tests without a network: `/dev/siteverify`, for `identity.captcha.url`.
///
/// It accepts one response, that of Turnstile's site keys for tests, any number of times.
struct FakeCaptchaVerifier {
    /// See developers.cloudflare.com/turnstile/troubleshooting/testing.
    static let response = "XXXX.DUMMY.TOKEN.XXXX"

    var routes: [Route] {
        [Route(.post, "/dev/siteverify", on: .service, errors: .status, .open(verify))]
    }

    private func verify(_ call: Call) async throws -> Response {
        let form = FormFields(strict: call.body.readableBytesView)
        let isRight = try form?.value("response") == Self.response
        return .json { json in
            json.member("success", isRight)
            json.member("hostname", isRight ? "localhost" : nil)
            json.member("error-codes", strings: isRight ? [] : ["invalid-input-response"])
        }
    }
}
