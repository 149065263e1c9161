package import Secrets

/// An operation that programs abuse, and for which a project can require a CAPTCHA.
package enum CaptchaOperation: String, Sendable, Hashable, Codable, CaseIterable {
    /// Creates an account with a password, or an anonymous one.
    case signUp
    /// Sends an email with a code.
    case email
    /// Sends an SMS.
    case sms
}

/// A service that tells people from programs, and the project's account there.
package struct CaptchaVerifier: Sendable, Hashable, Codable {
    /// The services with the same protocol (`siteverify`).
    package enum Service: String, Sendable, Hashable, Codable, CaseIterable {
        case turnstile = "TURNSTILE"
        case hCaptcha = "HCAPTCHA"
        case reCAPTCHA = "RECAPTCHA"

        /// Where responses are verified.
        package var url: String {
            switch self {
            case .turnstile: "https://challenges.cloudflare.com/turnstile/v0/siteverify"
            case .hCaptcha: "https://api.hcaptcha.com/siteverify"
            case .reCAPTCHA: "https://www.google.com/recaptcha/api/siteverify"
            }
        }

        /// Whether a high score means a program; elsewhere it means a person.
        package var scoresRisk: Bool { self == .hCaptcha }
    }

    package var service: Service
    /// Public; the widget of our own page needs it.
    package var siteKey: String
    package var secret: Secret
    /// Instead of the service's own.
    package var url: String?
    /// 0 to 1, from program to person; nil accepts responses without a score.
    package var minimumScore: Double?
    /// Whether requests pass while the verifier is down.
    package var allowsWhenUnreachable = false

    package init(service: Service, siteKey: String, secret: Secret) {
        self.service = service
        self.siteKey = siteKey
        self.secret = secret
    }

    package var verificationURL: String { url ?? service.url }
}
