import Accounts
import Domain
import Federation
import HTTPTypes
import Projects
import Secrets

/// The test of a provider: a real sign-in that shows each step and signs no user in.
///
/// A page sends the browser to the provider, the handler page receives it back, and a form on that page posts the
/// response here. The provider's own request cannot, because browsers send the session's cookie only from our own
/// pages.
extension ConsoleRoutes {
    var providerTestRoutes: [Route] {
        [
            action("/console/{project}/providers/{provider}/test", isGrave: { _ in false }, beginTest),
            action("/console/{project}/providers/{provider}/test/result", isGrave: { _ in false }, finishTest),
        ]
    }

    private func caller(_ visit: ConsoleVisit, _ place: ConsolePlace) -> Caller {
        Caller(visit.call, project: place.project, apiKey: nil)
    }

    @Sendable private func beginTest(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageConfiguration)
        let provider = try provider(visit, place)
        let path = path(of: provider.provider, place)
        let own = try deployment.pages(for: visit.call)
        var test = ConsoleProviderTest(name: ProviderNames.name(of: provider.provider.rawValue, provider.displayName))
        test.path = path
        var page = ConsolePage("Test", "", visit: visit, place: place, part: .providers)
        page.title = "Test \(test.name)"
        do {
            let started = try await accounts.rehearseSignIn.begin(
                provider.provider,
                path: "\(path)/test/result",
                token: visit.formToken,
                callback: deployment.callback(of: place.project, at: own),
                caller(visit, place)
            )
            page.content = test.start(started)
            page.cookies = [.flow(started.state.reveal(), started.browser.reveal(), seconds: 600, visit.isSecure)]
            return .page(page)
        } catch let error as AccountsError {
            page.content = test.refusedStart(error)
            return .page(page)
        }
    }

    @Sendable private func finishTest(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageConfiguration)
        let provider = try provider(visit, place)
        let path = path(of: provider.provider, place)
        let postBody = try form.items.value("postBody")
        let answer = RehearseSignIn.Answer(
            requestURI: try form.value("requestUri"),
            postBody: postBody,
            sessionID: Secret(try form.value("sessionId"))
        )
        let report = try await accounts.rehearseSignIn.finish(
            answer,
            provider.provider,
            path: "\(path)/test/result",
            caller(visit, place)
        )
        var test = ConsoleProviderTest(name: ProviderNames.name(of: provider.provider.rawValue, provider.displayName))
        test.path = path
        return .page(
            ConsolePage(
                "Test \(test.name)",
                test.result(report, isEnabled: provider.enabled),
                visit: visit,
                place: place,
                part: .providers
            )
        )
    }
}
