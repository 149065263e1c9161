import Secrets

/// JSON in the making, straight to bytes; members come out in the order in which they are written.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    mutating func openObject() {
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    mutating func openObject(_ name: String) {
        self.name(name)
        openObject()
    }

    mutating func closeObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        bytes += String(value).utf8
    }

    mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bytes += (value ? "true" : "false").utf8
    }

    mutating func member(_ name: String, _ values: [String]) {
        self.name(name)
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            string(value)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a value that is JSON already.
    mutating func member(_ name: String, json: some Collection<UInt8>) {
        self.name(name)
        bytes += json
    }

    private mutating func name(_ name: String) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes += [byte].lowercaseHex.utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
