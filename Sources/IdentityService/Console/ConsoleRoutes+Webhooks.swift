import Projects
import Storage

/// The webhooks of a project that were given up: part of its overview, for admins who can change the configuration.
extension ConsoleRoutes {
    static let webhooksShown = 50

    var webhookRoutes: [Route] {
        [action("/console/{project}/webhooks", isInTenants: false, isGrave: { _ in false }, resendWebhooks)]
    }

    /// Nothing if none was given up.
    func webhooksGivenUp(_ visit: ConsoleVisit, _ place: ConsolePlace) async throws -> HTML {
        guard place.tenant == .none, visit.may(.manageConfiguration) else { return "" }
        let messages = try await operations.webhooksGivenUp(place.project.id)
        guard !messages.isEmpty else { return "" }
        let rows = messages.prefix(Self.webhooksShown).map { message -> [HTML] in
            let subject = message.summary.subject
            return [
                "\(subject.type ?? "")", subject.account.map { "<code>\($0)</code>" } ?? "",
                "\(String(message.summary.attempts))", ConsoleText.time(message.createdAt),
                ConsoleText.time(message.givenUpAt),
            ]
        }
        let heads = ["Type", "Account", "Attempts", "Created", "Given up"]
        let more: HTML =
            messages.count > Self.webhooksShown
            ? "<p>These are the latest. <code>identity webhooks list</code> shows more.</p>" : ""
        let content: HTML = """
            \(html: ConsoleText.table("Webhooks that were given up", heads, rows))\(html: more)
            <form method="post" action="\(place.path)/webhooks">
            <p>The endpoint gets all of them once more, also those that are not shown, with the same IDs.</p>
            \(html: visit.token)\(html: ConsoleProvider.reasonField)
            <button>Send again</button>
            </form>
            """
        return ConsoleText.section("webhooks", "Webhooks that were given up", content)
    }

    @Sendable private func resendWebhooks(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageConfiguration)
        _ = try await operations.resendWebhooks(place.project.id)
        return .done("\(place.path)/overview", .webhooksDue)
    }
}
