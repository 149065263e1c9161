/// A data type of the server by its object ID; the named ones have fixed IDs (`pg_type.dat`).
package struct PostgresType: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let bool = Self(rawValue: 16)
    package static let bytea = Self(rawValue: 17)
    package static let name = Self(rawValue: 19)
    package static let int8 = Self(rawValue: 20)
    package static let int2 = Self(rawValue: 21)
    package static let int4 = Self(rawValue: 23)
    package static let text = Self(rawValue: 25)
    package static let json = Self(rawValue: 114)
    package static let float4 = Self(rawValue: 700)
    package static let float8 = Self(rawValue: 701)
    package static let boolArray = Self(rawValue: 1000)
    package static let byteaArray = Self(rawValue: 1001)
    package static let int4Array = Self(rawValue: 1007)
    package static let textArray = Self(rawValue: 1009)
    package static let int8Array = Self(rawValue: 1016)
    package static let float8Array = Self(rawValue: 1022)
    package static let bpchar = Self(rawValue: 1042)
    package static let varchar = Self(rawValue: 1043)
    package static let timestamptz = Self(rawValue: 1184)
    package static let timestamptzArray = Self(rawValue: 1185)
}
