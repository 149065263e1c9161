import Foundation
import Logging
import Text

/// One JSON object per line on standard output: `time`, `level`, `message`, and the metadata under its keys.
struct JSONLogHandler: LogHandler {
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var object = self.metadata.merging(event.metadata ?? [:]) { _, new in new }.mapValues { "\($0)" }
        if let error = event.error { object["error"] = "\(error)" }
        object["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        object["level"] = event.level.rawValue
        object["message"] = event.message.description
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(object) else { return }
        LogWriter.output.write(line + Data("\n".utf8), at: event.level)
    }
}

/// Readable lines on standard error, one for each event: nothing in its texts starts a line or a field.
struct ReadableLogHandler: LogHandler {
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let time = Date().formatted(.iso8601.time(includingFractionalSeconds: false))
        var values = self.metadata.merging(event.metadata ?? [:]) { _, new in new }
        if let error = event.error { values["error"] = "\(error)" }
        let details = values.sorted { $0.key < $1.key }
            .map { " \($0.key)=\("\($0.value)".asField)" }.joined()
        let text = event.message.description.onOneLine() + details
        let level = event.level < .warning ? "" : " \(event.level.rawValue.uppercased())"
        LogWriter.errors.write(Data("\(time)\(level) \(text)\n".utf8), at: event.level)
    }
}

extension String {
    /// Without characters that start a line, move a terminal's cursor, change the direction of text, or look like the space
    /// between fields.
    ///
    /// - Parameter spaces: how many may follow each other.
    func onOneLine(spaces: Int = .max) -> String {
        var run = 0
        return unicodeScalars.map { scalar in
            run = scalar == " " ? run + 1 : 0
            if run > spaces { return #"\u{20}"# }
            return switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: scalar.escaped(asASCII: true)
            case .spaceSeparator where scalar != " ": scalar.escaped(asASCII: true)
            default: String(scalar)
            }
        }.joined()
    }

    /// The value of a field, in quotation marks if a reader could take a part of it for another field.
    fileprivate var asField: String {
        let text = escaped(.arrayElement).onOneLine()
        let isPlain = text == self && !isEmpty && !utf8.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "=") }
        return isPlain ? text : "\"\(text)\""
    }
}

extension FileHandle {
    /// Writes what can be written: a full disk, or a closed reader, must not end the service.
    func say(_ data: Data) { try? write(contentsOf: data) }
}

extension ServiceConfiguration {
    func makeLogger() -> Logger {
        var logger = Logger(label: "identity") { _ in
            logsJSON ? JSONLogHandler() : ReadableLogHandler() as any LogHandler
        }
        logger.logLevel = logLevel
        return logger
    }
}
