import Accounts
import Secrets

extension WireObject {
    /// The result of a CAPTCHA: the first of the members that has one.
    ///
    /// - Parameter names: those of the operation; SDKs have two for SMS.
    func captchaResponse(_ names: [String] = ["captchaResponse", "recaptchaToken"]) throws -> Secret? {
        let texts = try names.compactMap { try string($0) }
        // Web SDKs send this text in one member if the other one has the result.
        return texts.first { !$0.isEmpty && $0 != "NO_RECAPTCHA" }.map { Secret($0) }
    }
}

extension Caller {
    /// The caller with the result of a CAPTCHA.
    func presenting(_ captchaResponse: Secret?) -> Caller {
        var caller = self
        caller.captchaResponse = captchaResponse
        return caller
    }
}
