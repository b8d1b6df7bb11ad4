import{c as e,n as t}from"./route-jml_tstF.js";import{a as n}from"./index-DPSMp5Vo.js";import{i as r,r as i,t as a,x as o}from"./icon-BUKsN88u.js";function s(e,t){return[{id:`curl`,name:`curl`,code:`cid=$(sha256sum photo.jpg | cut -d' ' -f1)
curl --data-binary @photo.jpg -H 'Content-Type: image/jpeg'${t?` \\
  -H "Authorization: Bearer $LADE_TOKEN"`:``} \\
  "${e}/api/upload?cid=$cid"`},{id:`cli`,name:`lade`,code:`export LADE_URL=${e}
${t?`export LADE_TOKEN=pk_live_…
`:``}lade put photo.jpg${t?`
lade ls`:``}`},{id:`sdk`,name:`TypeScript`,code:`import { createLadeClient } from '@lade/client'

const client = createLadeClient({
  url: '${e}',${t?`
  token: process.env.LADE_TOKEN,`:``}
})
const { cid, retrievalUrl } = await client.put('photo.jpg')
console.log(cid, retrievalUrl)`},{id:`page`,name:`HTML`,code:`<input type="file" id="file">
<script type="module">
  import { createLadeClient } from './lade-client.js'

  const client = createLadeClient({ url: '${e}' })
  document.getElementById('file').onchange = async ({ target }) => {
    const { retrievalUrl } = await client.put(target.files[0])
    console.log(retrievalUrl)
  }
<\/script>`}]}var c=[[`/docs`,`reference`],[`/docs/guides`,`guides`],[`/openapi.json`,`openapi`],[`/docs/errors`,`errors`]];function l(){let{developers:l,tokens:u}=r.value,d=e.value!=null;return i(o,{children:[i(`header`,{class:`page-head`,children:[i(`h1`,{children:l.title}),i(`p`,{class:`lead`,children:l.lead})]}),d&&i(`p`,{children:[l.tokenHint,` `,i(`a`,{href:t(`tokens`),children:u.make})]}),i(`div`,{class:`snippets`,children:s(location.origin,d).map(({id:e,name:t,code:a})=>i(`section`,{class:`panel snippet`,"aria-labelledby":`snippet-${e}`,children:[i(`div`,{class:`panel-head`,children:[i(`h2`,{id:`snippet-${e}`,children:t}),i(n,{text:a,what:t,label:r.value.app.copy})]}),i(`p`,{class:`panel-hint`,children:l.hints[e]}),i(`pre`,{tabIndex:0,children:i(`code`,{children:a})})]},e))}),i(`ul`,{class:`doc-links`,children:c.map(([e,t])=>i(`li`,{children:i(`a`,{class:`panel doc-link`,href:e,target:`_blank`,rel:`noopener`,children:[i(`span`,{children:[i(`strong`,{children:l.links[t]}),i(`small`,{children:l.linkHints[t]})]}),i(a,{name:`open`})]})},e))})]})}export{l as DevelopersPage};