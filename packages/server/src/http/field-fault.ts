/** A field that a schema refused, as the validator of the framework tells it. */
export interface RefusedField {
  /** Such as `/scopes/1`; empty or `/` for the whole. */
  readonly instancePath: string
  /** The kind of fault. */
  readonly keyword?: string
  /** What the schema asks for, by the kind of fault. */
  readonly params?: Readonly<Record<string, unknown>>
}

/** Longer values are not repeated. */
const SHOWN_CHARACTERS = 40

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID, such as 0b4e3f6a-8f2c-4b0e-9d5e-2f6a1c7d8e90',
  datetime: 'a time, such as 2026-11-28T10:00:00Z',
  date: 'a day, such as 2026-11-28',
  url: 'a URL',
}

/**
 * What is wrong with a value that a schema refused, in our own words: which field, what was sent, and what it may be.
 *
 * @param sent - the whole that the path leads into.
 * @param kind - what a field is called there.
 * @param knownFields - the fields that the whole may have.
 *
 * @example
 * faultOfField({ instancePath: '/label', keyword: 'invalid_type', params: { expected: 'string' } }, {}, 'field') // 'label is missing.'
 */
export function faultOfField(
  field: RefusedField,
  sent: unknown,
  kind: 'field' | 'parameter',
  knownFields: readonly string[] = [],
): string {
  const path = field.instancePath.split('/').filter((name) => name !== '')
  if (path.length === 0 && kind === 'field') return wholeFault(field, knownFields)
  const name = nameOf(path)
  const value = path.reduce(memberOf, sent)
  const subject = kind === 'parameter' ? `The query parameter ${name}` : name
  const rule = ruleOf(field)
  if (value === undefined)
    return `${subject} is missing.${rule === undefined || rule === TYPES.string ? '' : ` It must be ${rule}.`}`
  const shown = shownOf(value)
  if (rule === undefined && field.keyword === 'invalid_format') {
    return shown === undefined
      ? `${subject} has the wrong format.`
      : `${subject} is ${shown}, which has the wrong format.`
  }
  if (rule === undefined) return `${subject} has a value that is not accepted here.`
  return shown === undefined ? `${subject} must be ${rule}.` : `${subject} is ${shown}, but it must be ${rule}.`
}

function wholeFault({ keyword, params = {} }: RefusedField, knownFields: readonly string[]): string {
  if (keyword === 'unrecognized_keys' && Array.isArray(params.keys)) {
    const known = knownFields.length === 0 ? '' : ` It can have: ${knownFields.join(', ')}.`
    return `The body has fields that are not known here: ${params.keys.join(', ').slice(0, 80)}.${known}`
  }
  return 'The body must be a JSON object, such as {"name": "value"}.'
}

/** As the end of "… must be …". */
function ruleOf({ keyword, params = {} }: RefusedField): string | undefined {
  const { expected, values, format, origin, minimum, maximum } = params
  switch (keyword) {
    case 'invalid_type':
      return TYPES[String(expected)]
    case 'invalid_value':
      return Array.isArray(values) ? oneOf(values.map(String)) : undefined
    case 'invalid_format':
      return FORMATS[String(format)]
    case 'too_small':
      return `at least ${amountOf(minimum, origin)}`
    case 'too_big':
      return `at most ${amountOf(maximum, origin)}`
    default:
      return undefined
  }
}

function amountOf(amount: unknown, origin: unknown): string {
  const text = String(amount)
  if (origin === 'string') return `${text} ${text === '1' ? 'character' : 'characters'} long`
  if (origin === 'array') return `${text} ${text === '1' ? 'entry' : 'entries'} long`
  return text
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`
}

/** @example nameOf(['scopes', '1']) // 'scopes[1]' */
function nameOf([first = '', ...rest]: readonly string[]): string {
  const steps = rest.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
  return (first + steps.join('')).replace(/[^\x21-\x7e]/g, '?').slice(0, 60)
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** A value short enough to be repeated. */
function shownOf(value: unknown): string | undefined {
  const text = JSON.stringify(value)
  return text === undefined || text.length > SHOWN_CHARACTERS ? undefined : text.replace(/[^\x20-\x7e]/g, '?')
}
