//! Bare names in a configuration, where no parameter is needed: `circulant` for `{ id: circulant }`.

/// Implements `Deserialize` for `$kind` by `$map`, its twin with braces on every variant: without them serde would take unknown keys.
macro_rules! name_or_map {
    ($kind:ident by $map:ident, $wanted:literal) => {
        impl schemars::JsonSchema for $kind {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let map = generator.subschema_for::<$map>();
                schemars::json_schema!({ "anyOf": [{ "enum": $kind::IDS }, map] })
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct NameOrMap;

                impl<'de> serde::de::Visitor<'de> for NameOrMap {
                    type Value = $kind;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($wanted)
                    }

                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$kind, E> {
                        let named = [("id", name)].into_iter();
                        $map::deserialize(serde::de::value::MapDeserializer::new(named)).map($kind::from)
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$kind, A::Error> {
                        $map::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map($kind::from)
                    }
                }

                deserializer.deserialize_any(NameOrMap)
            }
        }
    };
}
pub(super) use name_or_map;
