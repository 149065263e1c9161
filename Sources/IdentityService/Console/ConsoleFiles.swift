import HTTPTypes
import NIOCore
import Secrets

/// The console's style sheet, under a name that changes with its content, so that browsers can cache it permanently.
enum ConsoleFiles {
    static let path = "/console/files/{file}"

    private static let sheet = Page.baseSheet + String(decoding: PackageResources.console_css, as: UTF8.self)
    private static let sheetName = "console.\(SecureHash.sha256Hex(sheet).prefix(16)).css"
    static let sheetPath = "/console/files/\(sheetName)"

    static var route: Route { Route(.get, path, on: .service, errors: .consolePage, .open(send)) }

    @Sendable private static func send(_ call: Call) async throws -> Response {
        guard call.parameter("file") == sheetName else { throw WireError.notFound }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/css; charset=utf-8", .cacheControl: "public, max-age=31536000, immutable",
            ],
            body: ByteBuffer(string: sheet)
        )
    }
}
