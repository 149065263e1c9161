// What the apps use of SwiftUI, as far as types go.
@_exported import Foundation

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension View where Body == Never {
    public var body: Never { fatalError() }
}

extension Never: View {
    public typealias Body = Never
}

@MainActor public protocol Scene {}

@MainActor public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}

@resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Group {
        Group()
    }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf(_ content: (some View)?) -> Group { Group() }
    public static func buildEither(first: some View) -> Group { Group() }
    public static func buildEither(second: some View) -> Group { Group() }
}

public struct Group: View {
    nonisolated init() {}
    public typealias Body = Never
}

public struct Text: View {
    public init(_ content: some StringProtocol) {}
    public typealias Body = Never
}

public struct Button: View {
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {}
    public typealias Body = Never
}

public struct SecureField: View {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
    public typealias Body = Never
}

public struct List<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public typealias Body = Never
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
    public init(
        _ data: Data,
        id: KeyPath<Data.Element, ID>,
        @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {}
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
    where Data.Element: Identifiable, ID == Data.Element.ID {}
    public typealias Body = Never
}

@MainActor @propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { Binding() }
}

extension State where Value: ExpressibleByNilLiteral {
    public init() { self.init(wrappedValue: nil) }
}

public struct Binding<Value> {
    nonisolated init() {}
}

extension View {
    public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { Group() }
}
