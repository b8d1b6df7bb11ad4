/**
 * What the hand-written checks of this API accept, as regular expressions for its documentation. The checks themselves give better reasons.
 *
 * A test compares the two. Where the length in bytes of UTF-8 counts, or white space around the text, only the check is exact.
 */

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069'

/** Every content id; whether one can be verified is decided by its content. */
export const CID_PATTERN = '^[A-Za-z0-9]{8,80}$'

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
export const EMAIL_PATTERN = `^${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`

/** One line with something on it. */
export const LABEL_PATTERN = `^[^${CONTROLS}]*[^\\s${CONTROLS}][^${CONTROLS}]*$`

/** One name, with more than dots and spaces. */
export const FILE_NAME_PATTERN = `^[^/\\\\${CONTROLS}]*[^\\s./\\\\${CONTROLS}][^/\\\\${CONTROLS}]*$`

const DIGIT = '[0-9A-Fa-f]'
const NEXT = `%[89ABab]${DIGIT}`
/** Percent-encoded UTF-8 of more than one byte, without controls. */
const NON_ASCII = [
  `%[Cc]2%[ABab]${DIGIT}`,
  `%(?:[Cc][3-9A-Fa-f]|[Dd]${DIGIT})${NEXT}`,
  `%[Ee]0%[ABab]${DIGIT}${NEXT}`,
  `%[Ee]2%80%(?:[89Bb]${DIGIT}|[Aa][0-7Ff])`,
  `%[Ee]2%81%(?:[89Bb]${DIGIT}|[Aa][0-5A-Fa-f])`,
  `%[Ee]2%(?:8[2-9A-Fa-f]|[9ABab]${DIGIT})${NEXT}`,
  `%[Ee][13-9A-CEFa-cef]${NEXT}${NEXT}`,
  `%[Ee][Dd]%[89]${DIGIT}${NEXT}`,
  `%[Ff]0%[9ABab]${DIGIT}${NEXT}${NEXT}`,
  `%[Ff][1-3]${NEXT}${NEXT}${NEXT}`,
  `%[Ff]4%8${DIGIT}${NEXT}${NEXT}`,
].join('|')
const ENCODED_ASCII = `%(?:2[0-9A-Ea-e]|[346]${DIGIT}|5[0-9ABD-Fabd-f]|7[0-9A-Ea-e])`
const ENCODED_GRAPHIC = `%(?:2[1-9A-Da-d]|[346]${DIGIT}|5[0-9ABD-Fabd-f]|7[0-9A-Ea-e])`
const ANY = `(?:[ -$&-.0-\\[\\]-~]|${ENCODED_ASCII}|${NON_ASCII})`
const GRAPHIC = `(?:[!-$&-\\-0-\\[\\]-~]|${ENCODED_GRAPHIC}|${NON_ASCII})`
/** A file name, percent-encoded: at most 255 bytes as UTF-8. */
export const ENCODED_FILE_NAME_PATTERN = `^(?=(?:[ -$&-.0-\\[\\]-~]|%${DIGIT}{2}){1,255}$)${ANY}*${GRAPHIC}${ANY}*$`
