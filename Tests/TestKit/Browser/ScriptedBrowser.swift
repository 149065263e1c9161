import Synchronization
import Text

/// A browser for sign-in flows: redirects hop by hop, cookies by origin, forms, and forms that submit themselves.
///
/// It never leaves this computer. Scripts don't run.
package final class ScriptedBrowser: Sendable {
    private let jar = Mutex(CookieJar())

    package init() {}

    /// Opens a URL and goes on until a page is there.
    ///
    /// - Parameter stops: prefixes of URLs that are not opened, such as the app's callback or a custom scheme.
    package func open(_ url: String, until stops: [String] = []) async throws -> Visit {
        try await go(Step(method: "GET", url: url), until: stops)
    }

    /// Submits a form of a page.
    ///
    /// - Parameters:
    ///   - values: what was typed; an empty value unchecks a box.
    ///   - button: the name of the button pressed; nil for the first, or for one without a name.
    package func submit(
        _ form: HTMLForm,
        _ values: [String: String] = [:],
        button: String? = nil,
        on page: Visit,
        until stops: [String] = []
    ) async throws -> Visit {
        try await go(step(form, values, button: button, on: page.url), until: stops)
    }

    /// The value of a cookie of the URL's origin.
    package func cookie(_ name: String, at url: String) -> String? {
        URLParts(url)?.origin.flatMap { origin in jar.withLock { $0.value(name, origin: origin) } }
    }

    /// The `Cookie` header of a navigation to the URL that no other site started; nil when there are none.
    package func cookies(at url: String) -> String? {
        URLParts(url).flatMap { url in jar.withLock { $0.header(for: url, method: "GET", isCrossSite: false) } }
    }

    /// A navigation that is to be made.
    private struct Step {
        var method: String
        var url: String
        var body: [UInt8]?
        /// Who caused it; nil for a person who typed it.
        var initiator: URLParts?
    }

    private func go(_ first: Step, until stops: [String]) async throws -> Visit {
        var step = first
        var hops: [Visit.Hop] = []
        var isCrossSite = false
        while hops.count < 20 {
            if stops.contains(where: { step.url.hasPrefix($0) }) {
                var visit = Visit(url: step.url, isStopped: true, status: 0, headers: [], body: [], hops: hops)
                visit.posted = step.body.map { FormFields(String(decoding: $0, as: UTF8.self)) }
                return visit
            }
            guard let url = URLParts(step.url), url.isLoopback, url.scheme == "http" else {
                throw ScriptedBrowserError.leftLoopback(step.url)
            }
            isCrossSite = isCrossSite || step.initiator.map { $0.host != url.host } ?? false
            let response = try await send(step, to: url, isCrossSite: isCrossSite)
            hops.append(.init(method: step.method, url: step.url, status: response.status, headers: response.headers))
            let visit = Visit(
                url: step.url,
                isStopped: false,
                status: response.status,
                headers: response.headers,
                body: response.body,
                hops: hops
            )
            if (300..<400).contains(response.status), let location = response.header("location") {
                step = redirected(step, to: Self.resolve(location, from: url), status: response.status)
            } else if let form = Self.selfSubmitting(visit) {
                step = self.step(form, [:], button: nil, on: step.url)
                isCrossSite = false
            } else {
                return visit
            }
            step.initiator = url
        }
        throw ScriptedBrowserError.tooManyHops(hops.map(\.url))
    }

    private func send(_ step: Step, to url: URLParts, isCrossSite: Bool) async throws -> PlainResponse {
        var headers = [("Accept", "text/html"), ("User-Agent", "ScriptedBrowser")]
        if let cookies = jar.withLock({ $0.header(for: url, method: step.method, isCrossSite: isCrossSite) }) {
            headers.append(("Cookie", cookies))
        }
        if step.body != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        if step.method == "POST", let origin = step.initiator?.origin { headers.append(("Origin", origin)) }
        let target = step.url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let response = try await PlainHTTP.send(step.method, String(target), headers: headers, body: step.body)
        jar.withLock { jar in
            for header in response.headers where header.name.lowercased() == "set-cookie" {
                jar.store(header.value, from: url)
            }
        }
        return response
    }

    /// RFC 9110 §15.4: 307 and 308 repeat the request, the others become a GET; a fragment is kept.
    private func redirected(_ step: Step, to location: String, status: Int) -> Step {
        let keeps = status == 307 || status == 308
        return Step(method: keeps ? step.method : "GET", url: location, body: keeps ? step.body : nil)
    }

    private func step(_ form: HTMLForm, _ values: [String: String], button: String?, on page: String) -> Step {
        var fields = form.fields.map { (name: $0.name, value: values[$0.name] ?? $0.value) }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where form.value(name) == nil {
            fields.append((name, value))
        }
        fields.removeAll { values[$0.name] == "" }
        let pressed = form.buttons.first { button == nil || $0.name == button }
        if let pressed, let name = pressed.name { fields.append((name, pressed.value)) }
        let here = URLParts(page)
        let action = here.map { Self.resolve(form.action.isEmpty ? page : form.action, from: $0) } ?? form.action
        // Browsers write a space as a plus sign here.
        let text = FormFields(pairs: fields.map { ($0.name, $0.value) }).text.replacing("%20", with: "+")
        guard form.method == "POST" else {
            let target = action.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
            return Step(method: "GET", url: target + "?" + text, initiator: here)
        }
        return Step(method: "POST", url: action, body: Array(text.utf8), initiator: here)
    }

    private static func selfSubmitting(_ visit: Visit) -> HTMLForm? {
        guard visit.text.contains("document.forms[0].submit()") else { return nil }
        return visit.forms.first
    }

    /// RFC 3986 §5.2, as far as `Location` and `action` need it.
    private static func resolve(_ reference: String, from base: URLParts) -> String {
        if URLParts(reference) != nil { return reference }
        if reference.hasPrefix("//") { return base.scheme + ":" + reference }
        let origin = base.origin ?? ""
        if reference.hasPrefix("?") { return origin + base.path + reference }
        let end = reference.firstIndex { $0 == "?" || $0 == "#" } ?? reference.endIndex
        let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
        let whole = reference.hasPrefix("/") ? reference[..<end] : folder + reference[..<end]
        return origin + withoutDots(String(whole)) + reference[end...]
    }

    private static func withoutDots(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for segment in segments {
            if segment == ".." { _ = kept.popLast() } else if segment != "." { kept.append(segment) }
        }
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        return "/" + kept.joined(separator: "/")
    }
}

package enum ScriptedBrowserError: Error {
    case leftLoopback(String)
    case tooManyHops([String])
}
