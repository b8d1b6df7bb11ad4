import * as z from 'zod'

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Input: what a request may have. Output: what a response has. */
export type Direction = 'input' | 'output'

const DEFINITIONS = '#/$defs/'
const COMPONENTS = '#/components/schemas/'
/** Generators take an integer without a format for one of 32 bits. */
const MAX_INT32 = 2 ** 31 - 1
/** The format says the same; the patterns that zod adds are hundreds of characters long. */
const FORMATS_WITHOUT_PATTERN = ['date-time', 'date', 'uri']

/** Wire schemas as JSON Schema. Those with a name are components, and everything that uses them refers to them. */
export class SchemaComponents {
  /** By name, in the order in which they were first used. */
  readonly schemas: Record<string, JsonSchema> = {}
  readonly #names: ReadonlyMap<z.core.$ZodType, string>
  readonly #metadata: z.core.$ZodRegistry<z.core.GlobalMeta>

  constructor(named: Readonly<Record<string, z.core.$ZodType>>) {
    const names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]))
    this.#names = names
    this.#metadata = Object.assign(z.registry<z.core.GlobalMeta>(), {
      get(schema: z.core.$ZodType) {
        const metadata = z.globalRegistry.get(schema)
        const id = names.get(schema)
        return id === undefined ? metadata : { ...metadata, id }
      },
    })
  }

  /** The schema itself, or a reference if it has a name. */
  schemaOf(schema: z.core.$ZodType, io: Direction): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, {
      io,
      metadata: this.#metadata,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => tidy(jsonSchema, io),
    })
    for (const [name, definition] of Object.entries($defs)) this.#keep(name, definition as JsonSchema)
    const name = this.#names.get(schema)
    // A schema with a name is among the definitions already.
    return name === undefined || root.$ref !== undefined ? referringToComponents(root) : this.#keep(name, root)
  }

  /** A reference. An object without a name of its own gets `name`; anything else stays as it is. */
  referenceTo(schema: z.core.$ZodType, io: Direction, name: string): JsonSchema {
    const json = this.schemaOf(schema, io)
    return json.type === 'object' ? this.#keep(name, json) : json
  }

  #keep(name: string, schema: JsonSchema): JsonSchema {
    const { id: _, ...kept } = schema
    this.schemas[name] = referringToComponents(kept)
    return { $ref: `${COMPONENTS}${name}` }
  }
}

function tidy(schema: JsonSchema, io: Direction): void {
  // Clients must not refuse fields that a later version adds.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
  if (FORMATS_WITHOUT_PATTERN.includes(schema.format ?? '')) delete schema.pattern
  if (schema.type === 'integer' && Number(schema.maximum) > MAX_INT32) schema.format = 'int64'
}

function referringToComponents(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace(DEFINITIONS, COMPONENTS) : value,
  )
  return JSON.parse(text) as JsonSchema
}
