-- For wrk: GETs the paths listed in the file given after "--", one a line, one after the other.
local requests = {}
local last = 0

function init(args)
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end
