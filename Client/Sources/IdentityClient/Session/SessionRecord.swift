import Foundation

/// A session as a store keeps it.
struct SessionRecord: Codable {
    /// Raised when an older version of this package could no longer read the record.
    static let currentVersion = 1

    var version = currentVersion
    /// The service, API key and tenant that the session belongs to.
    var project: String
    var session: Session

    static func decode(_ data: Data, project: String) throws(SessionStorageError) -> Session {
        struct Version: Decodable { var version: Int }
        let decoder = JSONDecoder()
        guard let version = try? decoder.decode(Version.self, from: data).version else { throw .unreadable }
        guard version <= currentVersion else { throw .newerVersion(version) }
        guard let record = try? decoder.decode(SessionRecord.self, from: data) else { throw .unreadable }
        guard record.project == project else { throw .otherProject }
        return record.session
    }

    func encoded() throws(SessionStorageError) -> Data {
        do { return try JSONEncoder().encode(self) } catch { throw .unreadable }
    }
}
