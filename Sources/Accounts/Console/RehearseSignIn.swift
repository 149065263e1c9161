package import Federation
package import Linking
import Projects
package import Secrets
import Storage

/// A real sign-in at a provider that signs nobody in: it goes each step of the way, and says how far it came.
///
/// It writes nothing but the flow, and the name that a provider says once, for the sign-in that follows. The provider may
/// be disabled still.
package struct RehearseSignIn: Sendable {
    let parts: Parts

    package struct Started: Sendable {
        package var authURI: String
        package var state: Secret
        /// What the browser shows when it comes back.
        package var browser: Secret
        package var requests: [ProviderRequest]
    }

    /// Begins a flow, as a sign-in does.
    ///
    /// - Parameters:
    ///   - path: of the page that gets the result.
    ///   - token: of the form that leads there.
    ///   - page: the URL of the handler page, to which the provider sends the browser back.
    /// - Throws: ``AccountsError``.
    package func begin(
        _ provider: ProviderID,
        path: String,
        token: String,
        page: String,
        _ caller: Caller
    ) async throws -> Started {
        let browser = BrowserSecret.make(for: caller, parts.random)
        var request = CreateAuthURI.Request(providerID: provider.rawValue)
        request.continueURI = page
        request.visit = HandlerVisit(
            authType: "rehearseSignIn",
            eventID: nil,
            destination: .console(path: path, token: token)
        )
        request.browser = browser
        request.sessionID = BrowserSecret.sessionID(of: browser)
        request.isTest = true
        let (started, requests) = try await Self.recorded {
            try await CreateAuthURI(parts: parts).startFlow(request, caller)
        }
        return Started(authURI: started.authURI, state: started.state, browser: browser, requests: requests)
    }

    /// What the browser came back with.
    package struct Answer: Sendable {
        package var requestURI: String
        package var postBody: String?
        package var sessionID: Secret

        package init(requestURI: String, postBody: String?, sessionID: Secret) {
            (self.requestURI, self.postBody, self.sessionID) = (requestURI, postBody, sessionID)
        }
    }

    /// A part of the way after the browser's return.
    package enum Step: Sendable, CaseIterable {
        /// The provider sent the browser back with a code.
        case comeBack
        /// The code, and what the provider gives for it.
        case exchange
        /// The ID token is the provider's, for us, of this sign-in.
        case verifyIDToken
        /// The profile, and who it is.
        case identify
    }

    package struct Report: Sendable {
        /// Where it ended, and why; nil when it came to the end.
        package var failure: (step: Step, error: FederationError)?
        package var credential: FederatedCredential?
        /// What a sign-in would come to.
        package var explanation: ExplainSignIn.Explanation?
        /// Those that were sent to the provider meanwhile.
        package var requests: [ProviderRequest] = []
    }

    /// Goes the rest of the way, once.
    ///
    /// - Throws: ``AccountsError/invalidFlow`` for an answer to another flow, and one that came too late or twice.
    package func finish(_ answer: Answer, _ provider: ProviderID, path: String, _ caller: Caller) async throws -> Report
    {
        guard let callback = try? ProviderCallback(requestURI: answer.requestURI, postBody: answer.postBody),
            let state = callback.state,
            let consumed = try await parts.flows.consume(
                state: state.reveal(),
                sessionID: answer.sessionID.reveal(),
                in: caller.scope,
                now: parts.now()
            ),
            case .console(path, _)? = consumed.flow.visit?.destination, consumed.provider == provider,
            var configuration = parts.provider(provider, caller)
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
            report.explanation = try await ExplainSignIn(parts: parts).explain(credential, autoCreate: true, caller)
        }
        return report
    }

    private func redeem(
        _ callback: ProviderCallback,
        _ flow: AuthorizationFlow,
        _ configuration: ProviderConfiguration,
        _ caller: Caller
    ) async throws(FederationError) -> FederatedCredential {
        let (names, scope, now) = (parts.stores.keptNames, caller.scope, parts.now())
        return try await parts.federation.redeem(callback, flow: flow, with: configuration) { subject, user in
            // It comes once, and would be missing when the person signs in.
            try? await names.keep(user, of: subject, at: flow.provider, in: scope, now: now)
        }
    }

    /// Nothing of it is counted as a sign-in.
    private static func recorded<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws -> (Value, [ProviderRequest]) {
        let record = ProviderRequest.Record()
        let value = try await AccountEvents.$current.withValue(nil) {
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
    /// The part of the way that it ended.
    package var step: RehearseSignIn.Step {
        switch self {
        case .providerNotFound, .providerDisabled, .misconfigured, .customParameterNotAllowed, .responseTypeNotOffered,
            .invalidRedirectURI, .invalidRequestURI, .duplicateParameter, .cancelled, .interactionRequired,
            .scopeRefused, .providerError, .stateMismatch, .callbackMismatch, .issuerParameterMismatch,
            .missingCredential:
            .comeBack
        case .codeRejected, .clientRejected, .unavailable, .invalidAnswer, .consentRequired, .revocationNotSupported,
            .notificationsNotSupported, .invalidNotification:
            .exchange
        case .idTokenNotAccepted, .unparsableIDToken, .signatureInvalid, .issuerMismatch, .audienceMismatch,
            .staleIDToken, .missingSubject, .issuerUnreachable, .nonceMissingInRequest, .nonceMismatch, .hashMismatch,
            .authenticationTooOld:
            .verifyIDToken
        case .subjectMismatch, .accessTokenRejected, .accessTokenOfAnotherClient, .accessTokenNotAccepted: .identify
        }
    }
}
