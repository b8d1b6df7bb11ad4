/** Something that somebody names, or uploads, in the hope that it runs where others look at it. */
export interface Payload {
  readonly id: string
  /** For names, labels, reasons and parameters of types. It calls `alert`, or needs no call to do harm. */
  readonly text: string
  /** The media type of the file. */
  readonly type: string
  /** @param code - does harm, and says so in the title of the page. @param url - of a script with that code. */
  readonly body: (code: string, url: string) => string
}

const html = (body: string): string => `<!doctype html><meta charset="utf-8"><title>quiet</title>${body}`
const svg = (inner: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">${inner}</svg>`
const inTag = (code: string): string => `<script>${code}</script>`
const inAttribute = (code: string): string =>
  code.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
const asData = (type: string, text: string): string => `data:${type};base64,${Buffer.from(text).toString('base64')}`

export const PAYLOADS: readonly Payload[] = [
  { id: 'script', text: '<script>alert(1)</script>', type: 'text/html', body: (code) => html(inTag(code)) },
  {
    id: 'script-src',
    text: '<script src=data:,alert(1)>',
    type: 'text/html',
    body: (_, url) => html(`<script src="${url}"></script>`),
  },
  {
    id: 'module',
    text: '<script type=module>alert(1)',
    type: 'text/html',
    body: (_, url) => html(`<script type="module">import '${url}'</script>`),
  },
  {
    id: 'xhtml',
    text: '"><script>alert(1)',
    type: 'application/xhtml+xml',
    body: (code) =>
      `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>quiet</title><script><![CDATA[${code}]]></script></head></html>`,
  },
  {
    id: 'img-onerror',
    text: '<img src=x onerror=alert(1)>',
    type: 'text/html; charset=utf-8',
    body: (code) => html(`<img src=x onerror="${inAttribute(code)}">`),
  },
  {
    id: 'body-onload',
    text: '<body onload=alert(1)>',
    type: 'TEXT/HTML',
    body: (code) => html(`<body onload="${inAttribute(code)}">`),
  },
  {
    id: 'details-ontoggle',
    text: '<details open ontoggle=alert(1)>',
    type: 'text/html',
    body: (code) => html(`<details open ontoggle="${inAttribute(code)}"><summary>x</summary></details>`),
  },
  {
    id: 'input-autofocus',
    text: '<input autofocus onfocus=alert(1)>',
    type: 'text/html',
    body: (code) => html(`<input autofocus onfocus="${inAttribute(code)}">`),
  },
  {
    id: 'animation',
    text: '<b style=animation:x onanimationstart=alert(1)>',
    type: 'text/html',
    body: (code) =>
      html(`<style>@keyframes x{}</style><b style="animation:x 1ms" onanimationend="${inAttribute(code)}">x</b>`),
  },
  {
    id: 'video-onerror',
    text: '<video><source onerror=alert(1)>',
    type: 'video/mp4',
    body: (code) => html(`<video><source onerror="${inAttribute(code)}"></video>`),
  },
  {
    id: 'unquoted-attribute',
    text: 'x onmouseover=alert(1) autofocus onfocus=alert(1)',
    type: 'image/png',
    body: (code) => html(inTag(code)),
  },
  {
    id: 'quoted-attribute',
    text: `'"onfocus="alert(1)"autofocus="`,
    type: 'image/jpeg',
    body: (code) => html(inTag(code)),
  },
  {
    id: 'svg-onload',
    text: '<svg onload=alert(1)>',
    type: 'image/svg+xml',
    body: (code) => svg(`<g onload="${inAttribute(code)}"/><set attributeName="x" onbegin="${inAttribute(code)}"/>`),
  },
  {
    id: 'svg-script',
    text: '<svg><script>alert(1)',
    type: 'image/svg+xml',
    body: (code) => svg(`<script><![CDATA[${code}]]></script>`),
  },
  {
    id: 'svg-use',
    text: '<svg><use href=data:image-svg+xml,x>',
    type: 'image/svg+xml; charset=utf-8',
    body: (code) =>
      svg(`<use xlink:href="${asData('image/svg+xml', svg(`<g id="x" onload="${inAttribute(code)}"/>`))}#x"/>`),
  },
  {
    id: 'svg-foreign',
    text: '<svg><foreignObject><iframe srcdoc=x>',
    type: 'image/svg+xml',
    body: (code) =>
      svg(
        `<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="${inAttribute(inTag(code))}"/></foreignObject>`,
      ),
  },
  {
    id: 'javascript-url',
    text: 'javascript:alert(1)',
    type: 'text/html',
    body: (code) =>
      html(
        `<iframe src="javascript:${inAttribute(code)}"></iframe><a id=a href="javascript:${inAttribute(code)}">x</a><script>a.click()</script>`,
      ),
  },
  {
    id: 'javascript-url-tab',
    text: 'java&Tab;script&colon;alert(1)',
    type: 'text/html',
    body: (code) => html(`<iframe src="java&Tab;script&colon;${inAttribute(code)}"></iframe>`),
  },
  {
    id: 'data-url',
    text: 'data:text-html,alert(1)',
    type: 'text/html',
    body: (code) =>
      html(
        `<iframe src="${asData('text/html', inTag(code))}"></iframe><object data="${asData('text/html', inTag(code))}"></object>`,
      ),
  },
  {
    id: 'srcdoc',
    text: '<iframe srcdoc="&lt;img src=x onerror=alert(1)&gt;">',
    type: 'text/html',
    body: (code) => html(`<iframe srcdoc="${inAttribute(inTag(code))}"></iframe>`),
  },
  {
    id: 'template',
    text: '{{constructor.constructor("alert(1)")()}}',
    type: 'application/json',
    body: (code) => JSON.stringify({ html: inTag(code) }),
  },
  {
    id: 'template-literal',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what is a template elsewhere
    text: '${alert(1)}<%= alert(1) %>#{alert(1)}',
    type: 'text/x-template',
    body: (code) => html(inTag(code)),
  },
  {
    id: 'prototype',
    text: '__proto__',
    type: 'application/json',
    body: (code) => JSON.stringify({ __proto__: null, constructor: { prototype: inTag(code) } }),
  },
  {
    id: 'markdown',
    text: '[x](javascript:alert(1))![y](x"onerror="alert(1))',
    type: 'text/markdown',
    body: (code) => `[x](javascript:${code})\n\n<img src=x onerror="${inAttribute(code)}">\n${inTag(code)}`,
  },
  {
    id: 'mathml',
    text: '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
    type: 'text/html',
    body: (code) =>
      html(
        `<math href="javascript:${inAttribute(code)}"><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=${inAttribute(code)}&gt;"></table></mtext></math>`,
      ),
  },
  {
    id: 'mutation',
    text: '<noscript><p title="<!noscript><img src=x onerror=alert(1)>">',
    type: 'text/html',
    body: (code) => html(`<noscript><p title="</noscript><img src=x onerror=${JSON.stringify(code)}>"></noscript>`),
  },
  {
    id: 'mutation-namespace',
    text: '<form><math><mtext><form><mglyph><style><math><img src onerror=alert(1)>',
    type: 'text/html',
    body: (code) =>
      html(`<form><math><mtext></form><form><mglyph><style></math><img src onerror="${inAttribute(code)}">`),
  },
  {
    id: 'css',
    text: '}*{background:url(javascript:alert(1))}',
    type: 'text/css',
    body: () => '*{background:url(javascript:alert(1));-moz-binding:url(x);behavior:url(x)}',
  },
  {
    id: 'style-import',
    text: '<style>@import"javascript:alert(1)";',
    type: 'text/html',
    body: (_, url) =>
      html(`<style>@import '${url}'; body{background:url('${url}')}</style><link rel=stylesheet href="${url}">`),
  },
  {
    id: 'base',
    text: '<base href=javascript:alert(1)>',
    type: 'text/html',
    body: (code) => html(`<base href="javascript:${inAttribute(code)}//"><script src="x"></script>`),
  },
  {
    id: 'object-embed',
    text: '<embed src=javascript:alert(1)><object data=javascript:alert(1)>',
    type: 'text/html',
    body: (code, url) =>
      html(`<object data="javascript:${inAttribute(code)}"></object><embed src="${url}" type="text/html">`),
  },
  {
    id: 'xslt',
    text: '<?xml-stylesheet href=x type=text-xsl?>',
    type: 'text/xml',
    body: (code) =>
      `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><!DOCTYPE d [<!ATTLIST xsl:stylesheet id ID #REQUIRED>]><d><xsl:stylesheet id="s" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><head><title>quiet</title><script>${inAttribute(code)}</script></head></html></xsl:template></xsl:stylesheet></d>`,
  },
  {
    id: 'xml-namespace',
    text: '<x:script xmlns:x="http:w3.org-1999-xhtml">alert(1)',
    type: 'application/xml',
    body: (code) =>
      `<?xml version="1.0"?><d xmlns:h="http://www.w3.org/1999/xhtml"><h:script>${inAttribute(code)}</h:script></d>`,
  },
  {
    id: 'pdf',
    text: '%PDF-1.7 /OpenAction<< /JS(app.alert(1))>>',
    type: 'application/pdf',
    body: (code) =>
      `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\);${code.replaceAll(/[()\\]/g, '\\$&')})>>>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF`,
  },
  { id: 'js', text: `';alert(1);//`, type: 'text/javascript', body: (code) => code },
  {
    id: 'polyglot',
    text: `jaVasCript:/*-/*\`/*\\\`/*'/*"/**/(/* */oNcliCk=alert(1) )//%0D%0A%0d%0a//</stYle/</titLe/</teXtarEa/</scRipt/--!>\\x3csVg/<sVg/oNloAd=alert(1)//>`,
    type: 'text/plain',
    body: (code) => `GIF89a/*<svg onload="${inAttribute(code)}">*/=1;${code}`,
  },
  {
    id: 'sniffed',
    text: '<!--><svg onload=alert(1)>-->',
    type: 'text/plain; charset=utf-7',
    body: (code) => html(`+ADw-script+AD4-${code}+ADw-/script+AD4-${inTag(code)}`),
  },
  { id: 'bidi', text: 'invoice\u202egnp.exe', type: 'application/octet-stream', body: (code) => html(inTag(code)) },
  {
    id: 'bidi-isolate',
    text: 'a\u2066<script>alert(1)\u2069b\u200f',
    type: 'application/x-msdownload',
    body: (code) => html(inTag(code)),
  },
  {
    id: 'crlf',
    text: 'a\r\nSet-Cookie: lade-session=x\r\nX-Injected: 1\r\n\r\n<script>alert(1)</script>',
    type: 'message/rfc822',
    body: (code) => `Content-Type: text/html\r\n\r\n${html(inTag(code))}`,
  },
  {
    id: 'line-separator',
    text: 'a\u2028alert(1)\u2029\u0085<img src=x onerror=alert(1)>',
    type: 'multipart/related',
    body: (code) => `--x\r\nContent-Type: text/html\r\n\r\n${html(inTag(code))}\r\n--x--`,
  },
  {
    id: 'nul',
    text: 'a\u0000<script>alert(1)</script>.png',
    type: 'application/x-shockwave-flash',
    body: (code) => `\u0000${html(inTag(code))}`,
  },
]
