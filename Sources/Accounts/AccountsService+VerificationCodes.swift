import Domain
import Projects
import Secrets
import Storage
import Text

/// A phone number that an SMS code has just proved.
struct CheckedVerification: Sendable {
    var phoneNumber: PhoneNumber
    var evidence: Evidence
    /// The code for the writing statement to use; until then it stays valid, within its attempts.
    var code: OneTimeCode
}

extension AccountsService {
    /// Sends an SMS code; older ones stay good.
    ///
    /// The project's test numbers have fixed codes and get no SMS; a right code returns what the request took from the
    /// limits.
    ///
    /// - Parameters:
    ///   - account: the account of the second factor; nil for a sign-in.
    ///   - appHash: of an Android app that reads the SMS itself, as the app sent it.
    /// - Returns: the `sessionInfo`.
    /// - Throws: ``AccountsError/smsRegionRefused``, ``AccountsError/noSMSProvider``.
    func sendVerificationCode(
        to number: PhoneNumber,
        purpose: VerificationPurpose,
        account: AccountID?,
        appHash: String? = nil,
        _ caller: Caller
    ) async throws -> Secret {
        let settings = caller.project.settings
        let fixed = settings.phone.testNumbers[number.text]
        if fixed == nil {
            guard settings.phone.regions.allows(number) else { throw AccountsError.smsRegionRefused }
            guard options.development || settings.delivery.carriesSMS else { throw AccountsError.noSMSProvider }
            try await requirePerson(for: .sms, caller)
        }
        let session = Secret(random.handle())
        var code = NewVerificationCode(
            purpose: purpose,
            account: account,
            phoneNumber: number,
            session: session,
            code: Secret(fixed ?? random.text(6, of: "0123456789"))
        )
        code.language = caller.language
        code.appHash = appHash.flatMap { $0.wholeMatch(of: /[A-Za-z0-9+\/]{11}/) == nil ? nil : $0 }
        code.host = settings.phone.bindsCodesToPages ? host(ofPage: caller) : nil
        code.sends = fixed == nil
        code.showsSession = options.development
        let limits: RateLimits
        if fixed != nil {
            limits = testNumberLimits(number, caller)
        } else if purpose == .secondFactor, let account {
            let place = try await standing(of: account, caller)?.place ?? .elsewhere
            limits = smsLimits(to: number, of: (account, place), caller)
        } else {
            // A number that is only being enrolled may be anyone's.
            limits = smsLimits(to: number, of: nil, caller)
        }
        let sms = try await stores.verificationCodes.insert(code, within: limits, in: caller.scope, now: now())
        if let sms { options.hasWritten(.sms(sms, caller.project)) }
        return session
    }

    /// The digits of a code; what cannot be one costs no attempt.
    static func sixDigits(_ code: String?) throws(AccountsError) -> String {
        guard let code, !code.isEmpty else { throw .missingVerificationCode }
        guard let digits = TypedCode.sixDigits(code) else { throw .invalidVerificationCode }
        return digits
    }

    /// The host of the page that calls, if it is one of the project's or the service's, with a certificate.
    ///
    /// A browser offers the code to pages of that host, so no other page may choose it.
    private func host(ofPage caller: Caller) -> String? {
        guard let origin = caller.origin.flatMap({ ContinueURI($0) }), origin.isOrigin, origin.scheme == "https",
            origin.isAuthorizedOrigin(of: caller.project.settings, anyLoopback: false)
                || deployment.pages(of: caller.project).contains(where: { $0.authority == origin.authority })
        else { return nil }
        return origin.host
    }

    /// Checks an SMS code: counts the attempt before anything is compared (threats.md, T-E2).
    ///
    /// - Parameter account: the account whose second factor the code must be about; nil for a sign-in.
    func checkVerificationCode(
        sessionInfo: String?,
        code: String?,
        purpose: VerificationPurpose,
        account: AccountID?,
        _ caller: Caller
    ) async throws -> CheckedVerification {
        guard let sessionInfo, !sessionInfo.isEmpty else { throw AccountsError.missingSessionInfo }
        let code = try Self.sixDigits(code)
        guard Base64URL.decode(sessionInfo)?.count == 32,
            let tried = try await stores.verificationCodes.attempt(
                Secret(code),
                session: Secret(sessionInfo),
                for: purpose,
                account: account,
                in: caller.scope
            )
        else { throw AccountsError.invalidSessionInfo }
        guard tried.validUntil > now(), tried.attempts <= VerificationCodeStore.attempts else {
            throw AccountsError.sessionExpired
        }
        guard let evidence = Evidence(tried, at: seconds) else { throw AccountsError.invalidVerificationCode }
        if caller.project.settings.phone.testNumbers[tried.phoneNumber.text] != nil {
            try await stores.rateLimits.giveBack(testNumberLimits(tried.phoneNumber, caller))
        }
        return CheckedVerification(phoneNumber: tried.phoneNumber, evidence: evidence, code: .sms(tried.hash))
    }
}
