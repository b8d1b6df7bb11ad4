import { lookup } from 'mrmime'

/** What bytes are when nothing is known about them. */
const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'

/**
 * The media type that the name of a file lets expect; the bytes are not looked at.
 *
 * @example
 * mediaTypeOf('photo.JPG') // 'image/jpeg'
 * mediaTypeOf('Makefile') // 'application/octet-stream'
 */
export function mediaTypeOf(name: string): string {
  // Without a dot the whole name would be looked up: a file called "png" is no picture.
  return (name.includes('.') ? lookup(name) : undefined) ?? UNKNOWN_MEDIA_TYPE
}
