import Delivery
import Logging
import Projects
import Secrets
import Storage
import Text

extension AccountsService {
    /// Refuses a program, if the project asks for a CAPTCHA before the operation (threats.md, T-D28).
    ///
    /// Use cases call it before they write or send anything, so no path to them can forget it.
    ///
    /// - Throws: ``AccountsError/captchaMissing``, ``AccountsError/captchaRefused``,
    ///   ``AccountsError/captchaUnchecked``; ``Storage/RateLimitReached``.
    func requirePerson(for operation: CaptchaOperation, _ caller: Caller) async throws {
        guard caller.project.settings.captchaOperations.contains(operation) else { return }
        if try await takeToken(for: operation, caller) { return }
        try await requireVerdict(caller)
    }

    /// Asks the verifier about the caller's response.
    ///
    /// Each call takes from the network address's limit before, and a good response returns it: a program that sends
    /// invented ones does not have the verifier called without end (threats.md, T-E11).
    ///
    /// - Throws: ``AccountsError/captchaMissing``, ``AccountsError/captchaRefused``,
    ///   ``AccountsError/captchaUnchecked``; ``Storage/RateLimitReached``.
    func requireVerdict(_ caller: Caller) async throws {
        guard let verifier = caller.project.settings.delivery.captcha, let captchas = options.captchas else {
            throw AccountsError.captchaUnchecked
        }
        // The verifiers' responses have at most some 2,000 characters.
        guard let response = caller.captchaResponse, (1...8_192).contains(response.reveal().utf8.count) else {
            throw AccountsError.captchaMissing
        }
        let limits = accessTokenLimits(caller)
        try await stores.rateLimits.take(limits)
        let verdict: CaptchaService.Verdict
        do throws(CaptchaService.Failure) {
            verdict = try await captchas.verdict(
                on: response,
                by: verifier,
                address: caller.address,
                for: caller.project.id
            )
        } catch {
            Logger.current.warning(
                "A CAPTCHA response could not be verified",
                metadata: ["project.id": "\(caller.project.id)", "error": "\(error)"]
            )
            if case .down = error, verifier.allowsWhenUnreachable { return }
            throw AccountsError.captchaUnchecked
        }
        guard verdict.isSuccess, isOwnHost(verdict.hostname, caller), isGood(verdict.score, for: verifier) else {
            throw AccountsError.captchaRefused
        }
        try await stores.rateLimits.giveBack(limits)
    }

    /// A response from another site's page is worth nothing here; native apps have no host.
    private func isOwnHost(_ host: String?, _ caller: Caller) -> Bool {
        guard let host = host?.lowercased(), !host.isEmpty else { return true }
        let own = deployment.pages(of: caller.project).compactMap { URLParts($0.text)?.host }
        return caller.project.settings.authorizes(host: host) || own.contains(host)
    }

    private func isGood(_ score: Double?, for verifier: CaptchaVerifier) -> Bool {
        guard let minimum = verifier.minimumScore else { return true }
        return score.map { $0 >= minimum } ?? false
    }
}
