import Delivery
package import Domain
package import Projects
package import Secrets
import Sessions
package import Storage

extension AccountsService { package var sendOOBCode: SendOOBCode { SendOOBCode(service: self) } }

/// `sendOobCode`: sends an email with a one-time code, or returns the link to an admin.
package struct SendOOBCode: Sendable {
    let service: AccountsService

    package struct Request: Sendable {
        package var type: OOBCodeType
        /// Beside ``idToken`` that of its account.
        package var email: String?
        package var newEmail: String?
        package var idToken: String?
        /// Where the link's page continues to.
        package var continueURL: String?
        /// The domain of the link instead of the service's: an authorized one of the project.
        package var linkDomain: String?
        /// The app uses the code itself, from the continue URL.
        package var handlesCodeInApp = false
        /// Apps that open the link, by bundle ID or package name.
        package var apps: [AppRegistration.Platform: String] = [:]

        package init(type: OOBCodeType) { self.type = type }
    }

    package enum Role: Sendable {
        case app
        case admin(returnsLink: Bool)

        fileprivate var isAdmin: Bool { if case .app = self { false } else { true } }
        fileprivate var mails: Bool { if case .admin(returnsLink: true) = self { false } else { true } }
    }

    package struct Result: Sendable {
        package var email: EmailAddress
        /// What the digits of the email must be presented with; nil for the link alone, and for digits of the caller's
        /// session.
        package var codeSession: Secret?
        /// For an admin who requested the link.
        package var issued: (code: Secret, link: Secret)?
    }

    /// If the caller must not learn whether an email has an account, the response and the work are the same, but no
    /// email is sent (threats.md, T-E1).
    package func callAsFunction(_ request: Request, as role: Role, _ caller: Caller) async throws -> Result {
        let continueURL = try continueURL(request, caller)
        let linkDomain = try request.linkDomain.map { try service.linkDomain($0, caller) }
        let opensApp = try opensApp(request, caller)
        // The others need a signed-in account, which has limits of its own.
        if !role.isAdmin, [.emailSignIn, .passwordReset].contains(request.type) {
            try await service.requirePerson(for: .email, caller)
        }
        let subject: Subject
        switch request.type {
        case .emailSignIn: subject = try await signIn(request, role, caller)
        case .passwordReset: subject = try await passwordReset(request, role, caller)
        case .verifyEmail: subject = try await verification(request, role, caller)
        case .verifyAndChangeEmail: subject = try await change(request, role, caller)
        case .recoverEmail, .revertSecondFactor: throw AccountsError.unsupportedRequestType
        }
        return try await issue(
            request.type,
            subject,
            as: role,
            continueURL: continueURL,
            linkDomain: linkDomain,
            opensApp: opensApp,
            caller
        )
    }

    func issue(
        _ type: OOBCodeType,
        _ subject: Subject,
        as role: Role,
        continueURL: String?,
        linkDomain: String?,
        opensApp: Bool = false,
        _ caller: Caller
    ) async throws -> Result {
        var code = try service.prepareCode(
            type,
            owner: subject.owner,
            email: subject.email,
            newEmail: subject.newEmail,
            mailTo: role.mails ? subject.recipient : nil,
            displayName: subject.displayName,
            continueURL: continueURL,
            linkDomain: linkDomain,
            opensApp: opensApp,
            caller
        )
        code.values.isDecoy = subject.isUnknown
        code.values.session = subject.session
        // Nothing of an email's size tells whether it has an account, nor whether it is sent.
        if type != .emailSignIn {
            code.values.mail?.account = (subject.isUnknown ? service.newAccountID() : subject.account)?.rawValue
        }
        if role.mails, caller.project.settings.emailCodes, let session = subject.codeSession {
            code.values.addShortCode(Secret(service.random.text(6, of: "0123456789")), session: session)
        }
        try await service.stores.oobCodes.insert(
            code.values,
            within: limits(type, subject, role, caller),
            recording: role.mails ? nil : OOBCodeStore.LinkIssue(account: subject.account),
            in: caller.scope,
            now: service.now()
        )
        service.report(code.values)
        var result = Result(email: subject.email, issued: role.mails ? nil : (code.code, code.link))
        if type == .emailSignIn { result.codeSession = code.values.shortCode?.session }
        return result
    }

    /// The subject of a code.
    struct Subject {
        /// The account, or the email of a sign-in code.
        var owner: String
        /// Nil for an email without an account.
        var account: AccountID?
        var email: EmailAddress
        var newEmail: EmailAddress?
        var recipient: EmailAddress
        var displayName: String?
        /// The signed-in account that requests it; nil if no sign-in is needed.
        var askedBy: Account?
        /// The session that starts a change with it.
        var session: SessionID?
        /// What digits in the email are bound to; nil for the link alone.
        ///
        /// A handle that only the caller gets, or the caller's session.
        var codeSession: Secret?
        /// No email is sent, and the caller must not notice.
        var isUnknown = false

        init(_ account: Account, _ email: EmailAddress) {
            owner = account.id.rawValue
            self.account = account.id
            self.email = email
            recipient = email
            displayName = account.displayName
        }

        init(address: EmailAddress, isUnknown: Bool) {
            owner = address.canonical
            email = address
            recipient = address
            self.isUnknown = isUnknown
        }
    }

    // MARK: The types

    private func signIn(_ request: Request, _ role: Role, _ caller: Caller) async throws -> Subject {
        guard caller.project.settings.emailLinkSignIn else { throw AccountsError.operationNotAllowed }
        let address = try Self.address(request.email)
        let account = try await service.accounts.holder(of: address, in: caller.scope)
        // It would reveal that there is such an account, so only some callers may learn it.
        let isDisabled = account?.isDisabled ?? false
        var subject = Subject(address: address, isUnknown: isDisabled)
        guard !isDisabled || isProtected(role, caller) else {
            try await refuse(.userDisabled, .emailSignIn, subject, role, caller)
        }
        if let email = account?.email { subject.recipient = email }
        subject.codeSession = Secret(service.random.handle())
        subject.displayName = account?.displayName
        subject.account = account?.id
        return subject
    }

    private func passwordReset(_ request: Request, _ role: Role, _ caller: Caller) async throws -> Subject {
        let address = try Self.address(request.email)
        guard let account = try await service.accounts.holder(of: address, in: caller.scope), let email = account.email
        else {
            let subject = Subject(address: address, isUnknown: true)
            guard isProtected(role, caller) else {
                try await refuse(.emailNotFound, .passwordReset, subject, role, caller)
            }
            return subject
        }
        return Subject(account, email)
    }

    private func verification(_ request: Request, _ role: Role, _ caller: Caller) async throws -> Subject {
        let (account, user) = try await account(request, role, caller)
        guard let email = account.email else { throw AccountsError.missingEmail }
        var subject = Subject(account, email)
        subject.codeSession = user.map { Secret($0.session.id.rawValue) }
        subject.askedBy = account
        return subject
    }

    private func change(_ request: Request, _ role: Role, _ caller: Caller) async throws -> Subject {
        guard let text = request.newEmail, !text.isEmpty else { throw AccountsError.missingNewEmail }
        let (account, user) = try await account(request, role, caller)
        if let user { try service.require([.requestEmailChange], of: user, caller) }
        guard let email = account.email else { throw AccountsError.missingEmail }
        guard let newEmail = EmailAddress(text) else { throw AccountsError.invalidNewEmail }
        let holder = try await service.accounts.holder(of: newEmail, in: caller.scope)
        var subject = Subject(account, email)
        subject.newEmail = newEmail
        subject.session = user?.session.id
        subject.recipient = newEmail
        subject.askedBy = account
        if let holder, holder.id != account.id {
            subject.isUnknown = true
            guard isProtected(role, caller) else {
                try await refuse(.emailExists, .verifyAndChangeEmail, subject, role, caller)
            }
        }
        return subject
    }

    // MARK: Values

    /// The signed-in account; for an admin without an ID token, that of the email.
    private func account(
        _ request: Request,
        _ role: Role,
        _ caller: Caller
    ) async throws -> (account: Account, user: SignedInAccount?) {
        if !role.isAdmin || request.idToken != nil {
            let user = try await service.authenticate(request.idToken, caller: caller)
            if let text = request.email, !text.isEmpty, EmailAddress(text)?.canonical != user.account.email?.canonical {
                throw AccountsError.unexpectedParameter("email")
            }
            return (user.account, user)
        }
        guard let account = try await service.accounts.holder(of: try Self.address(request.email), in: caller.scope)
        else {
            throw AccountsError.userNotFound
        }
        return (account, nil)
    }

    /// Refuses with information about an email; such requests count like emails.
    private func refuse(
        _ error: AccountsError,
        _ type: OOBCodeType,
        _ subject: Subject,
        _ role: Role,
        _ caller: Caller
    ) async throws -> Never {
        try await service.stores.rateLimits.take(limits(type, subject, role, caller))
        throw error
    }

    /// A sign-in link goes to any address, so it leaves a share of the project's emails to the others, and so does, half as
    /// much, a password reset, to what people ask for who are signed in; what sends no email takes none of them, but is
    /// refused like the others (threats.md, T-E7).
    private func limits(_ type: OOBCodeType, _ subject: Subject, _ role: Role, _ caller: Caller) -> RateLimits {
        guard !role.isAdmin else { return role.mails ? service.projectMailLimits(caller) : .none }
        let limits = service.mailLimits(to: subject.recipient, askedBy: subject.askedBy, caller)
        let shared =
            switch type {
            case .emailSignIn: limits.leavingShare(of: .mailsPerProject)
            case .passwordReset: limits.leavingHalfShare(of: .mailsPerProject)
            default: limits
            }
        return subject.isUnknown ? shared.sparing(.mailsPerProject) : shared
    }

    private func isProtected(_ role: Role, _ caller: Caller) -> Bool {
        !role.isAdmin && caller.project.settings.emailEnumerationProtection
    }

    private static func address(_ text: String?) throws(AccountsError) -> EmailAddress {
        guard let text, !text.isEmpty else { throw .missingEmail }
        guard let address = EmailAddress(text) else { throw .invalidEmail }
        return address
    }

    func continueURL(_ request: Request, _ caller: Caller) throws(AccountsError) -> String? {
        let url = try service.continueURL(request.continueURL, caller)
        guard url != nil || !request.handlesCodeInApp else { throw .missingContinueURI }
        return url
    }
}
