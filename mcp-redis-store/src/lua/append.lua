-- Takes an event. KEYS: session. ARGV: epoch, stream, sequence, message, 1 at its end, events at most, bytes at most.
local stream, event = ARGV[2], ARGV[2] .. ':' .. ARGV[3]
local last, count, ended = 'l' .. stream, 'c' .. stream, 'x' .. stream
local epoch, bytes, first, next, before = unpack(redis.call('HMGET', KEYS[1], 'e', 'b', 'f', 't', last))
if not epoch then return 'gone' end
if epoch ~= ARGV[1] then return 'conflict' end
if ARGV[5] == '1' and ARGV[4] == '' then
  if before then redis.call('HSET', KEYS[1], ended, 1) end
  return 'ok'
end
bytes, first, next = tonumber(bytes or 0), tonumber(first or 0), tonumber(next or 0)
bytes = bytes + #ARGV[4] - redis.call('HSTRLEN', KEYS[1], event)
if redis.call('HSET', KEYS[1], event, ARGV[4]) == 1 then
  redis.call('HSET', KEYS[1], '#' .. next, event)
  redis.call('HINCRBY', KEYS[1], count, 1)
  next = next + 1
end
if ARGV[5] == '1' then redis.call('HSET', KEYS[1], ended, 1) end
if not before or tonumber(before) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], last, ARGV[3]) end
while first < next and (next - first > tonumber(ARGV[6]) or bytes > tonumber(ARGV[7])) do
  local oldest = redis.call('HGET', KEYS[1], '#' .. first)
  bytes = bytes - redis.call('HSTRLEN', KEYS[1], oldest)
  redis.call('HDEL', KEYS[1], '#' .. first, oldest)
  first = first + 1
  local of = string.match(oldest, '^%d+')
  -- The session's own stream continues: its position must be known.
  if redis.call('HINCRBY', KEYS[1], 'c' .. of, -1) == 0 and of ~= '0' then
    redis.call('HDEL', KEYS[1], 'l' .. of, 'c' .. of, 'x' .. of)
  end
end
redis.call('HSET', KEYS[1], 'b', bytes, 'f', first, 't', next)
return 'ok'
