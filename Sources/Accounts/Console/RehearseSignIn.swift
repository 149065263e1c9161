package import Domain
package import Federation
import Projects
import Requests
package import Secrets
import Storage

extension AccountsService { package var rehearseSignIn: RehearseSignIn { RehearseSignIn(service: self) } }

/// A test sign-in at a provider that signs no user in: it runs every step and reports how far it got.
///
/// It writes only the flow, and the name that a provider sends once, for the next sign-in. The provider may be
/// disabled.
package struct RehearseSignIn: Sendable {
    let service: AccountsService

    package struct Started: Sendable {
        package var authURI: String
        package var state: Secret
        /// The secret that the browser presents when it returns.
        package var browser: Secret
        package var requests: [ProviderRequest]
    }

    /// Starts a flow, as a sign-in does.
    ///
    /// - Parameters:
    ///   - path: the page that receives the result.
    ///   - token: of the form that leads there.
    ///   - callback: the redirect URI.
    /// - Throws: ``AccountsError``.
    package func begin(
        _ provider: ProviderID,
        path: String,
        token: String,
        callback: String,
        _ caller: Caller
    ) async throws -> Started {
        let browser = BrowserSecret.make(for: caller, service.random)
        var request = CreateAuthURI.Request(providerID: provider.rawValue)
        request.continueURI = callback
        request.visit = HandlerVisit(
            authType: "rehearseSignIn",
            eventID: nil,
            destination: .console(path: path, token: token)
        )
        request.browser = browser
        request.sessionID = BrowserSecret.sessionID(of: browser)
        request.isTest = true
        let (started, requests) = try await Self.recorded {
            try await CreateAuthURI(service: service).startFlow(request, caller)
        }
        return Started(authURI: started.authURI, state: started.state, browser: browser, requests: requests)
    }

    /// The provider's response, from the browser.
    package struct Answer: Sendable {
        package var requestURI: String
        package var postBody: String?
        package var sessionID: Secret

        package init(requestURI: String, postBody: String?, sessionID: Secret) {
            (self.requestURI, self.postBody, self.sessionID) = (requestURI, postBody, sessionID)
        }
    }

    /// A step after the browser's return.
    package enum Step: Sendable, CaseIterable {
        /// The provider redirected back with a code.
        case comeBack
        /// The exchange of the code for tokens.
        case exchange
        /// The verification of the ID token: issued by the provider, for us, in this sign-in.
        case verifyIDToken
        /// The profile and the identity.
        case identify
    }

    package struct Report: Sendable {
        /// The failed step and the error; nil if all steps passed.
        package var failure: (step: Step, error: FederationError)?
        package var credential: FederatedCredential?
        /// The result of a real sign-in.
        package var explanation: ExplainSignIn.Explanation?
        /// The requests that were sent to the provider.
        package var requests: [ProviderRequest] = []
    }

    /// Runs the remaining steps, once.
    ///
    /// - Throws: ``AccountsError/invalidFlow`` for the response of another flow, and one that is late or repeated.
    package func finish(_ answer: Answer, _ provider: ProviderID, path: String, _ caller: Caller) async throws -> Report
    {
        guard let callback = try? ProviderCallback(requestURI: answer.requestURI, postBody: answer.postBody),
            let state = callback.state,
            let consumed = try await service.flows.consume(
                state: state.reveal(),
                sessionID: answer.sessionID.reveal(),
                in: caller.scope,
                now: service.now()
            ),
            case .console(path, _)? = consumed.flow.visit?.destination, consumed.provider == provider,
            var configuration = service.provider(provider, caller)
        else { throw AccountsError.invalidFlow }
        configuration.enabled = true
        var report = Report()
        do {
            let (credential, requests) = try await Self.recorded {
                await Result<FederatedCredential, FederationError>.of {
                    () async throws(FederationError) -> FederatedCredential in
                    try await redeem(callback, consumed.flow, configuration, caller)
                }
            }
            report.requests = requests
            report.credential = try credential.get()
        } catch let error as FederationError {
            report.failure = (error.step, error)
            return report
        }
        if let credential = report.credential {
            let explanation = try await ExplainSignIn(service: service).explain(credential, autoCreate: true, caller)
            if explanation.owner == nil, let reason = credential.emailUnavailable {
                report.failure = (.identify, .unavailable(reason))
                return report
            }
            report.explanation = explanation
        }
        return report
    }

    private func redeem(
        _ callback: ProviderCallback,
        _ flow: AuthorizationFlow,
        _ configuration: ProviderConfiguration,
        _ caller: Caller
    ) async throws(FederationError) -> FederatedCredential {
        let (names, scope, now) = (service.stores.keptNames, caller.scope, service.now())
        return try await service.federation.calling(for: caller.project.id) {
            [federation = service.federation] () async throws(FederationError) in
            try await federation.redeem(callback, flow: flow, with: configuration) { subject, user in
                // The provider sends it only once, and the user's real sign-in needs it.
                try? await names.keep(user, of: subject, at: flow.provider, in: scope, now: now)
            }
        }
    }

    /// Runs an operation without counting it as a sign-in.
    private static func recorded<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws -> (Value, [ProviderRequest]) {
        let record = ProviderRequest.Record()
        let value = try await RequestContext.with({ $0.events = nil }) {
            try await ProviderRequest.$record.withValue(record) { try await body() }
        }
        return (value, record.requests)
    }
}

extension Result {
    fileprivate static func of(_ body: () async throws(Failure) -> Success) async -> Result {
        do throws(Failure) {
            let value = try await body()
            return .success(value)
        } catch {
            return .failure(error)
        }
    }
}

extension FederationError {
    /// The step that failed with this error.
    package var step: RehearseSignIn.Step {
        switch self {
        case .providerNotFound, .providerDisabled, .misconfigured, .customParameterNotAllowed, .responseTypeNotOffered,
            .invalidRedirectURI, .invalidRequestURI, .duplicateParameter, .cancelled, .interactionRequired,
            .scopeRefused, .providerError, .stateMismatch, .callbackMismatch, .issuerParameterMismatch,
            .missingCredential:
            .comeBack
        case .codeRejected, .clientRejected, .unavailable, .overloaded, .invalidAnswer, .consentRequired,
            .revocationNotSupported,
            .notificationsNotSupported, .invalidNotification:
            .exchange
        case .idTokenNotAccepted, .unparsableIDToken, .signatureInvalid, .issuerMismatch, .audienceMismatch,
            .authorizedPartyMismatch,
            .staleIDToken, .missingSubject, .issuerUnreachable, .nonceMissingInRequest, .nonceMismatch, .hashMismatch,
            .authenticationTooOld:
            .verifyIDToken
        case .subjectMismatch, .accessTokenRejected, .accessTokenOfAnotherClient, .accessTokenNotAccepted: .identify
        }
    }
}
