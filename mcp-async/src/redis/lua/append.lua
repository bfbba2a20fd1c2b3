-- Takes an event. KEYS: removed, meta, events, order.
-- ARGV: epoch, stream, sequence, message, 1 at its end, events at most, bytes at most, time to keep them.
-- The fields of meta: e the epoch, b the bytes; and of each stream l its last event, c its events, x that it has ended.
if redis.call('EXISTS', KEYS[1]) == 1 then return 'gone' end
local epoch = redis.call('HGET', KEYS[2], 'e')
if epoch and tonumber(epoch) > tonumber(ARGV[1]) then return 'conflict' end
if epoch ~= ARGV[1] then redis.call('HSET', KEYS[2], 'e', ARGV[1]) end
local last, count, ended = 'l' .. ARGV[2], 'c' .. ARGV[2], 'x' .. ARGV[2]
local before = redis.call('HGET', KEYS[2], last)
if ARGV[5] == '1' and ARGV[4] == '' then
  if before then redis.call('HSET', KEYS[2], ended, 1) end
else
  if ARGV[5] == '1' then redis.call('HSET', KEYS[2], ended, 1) end
  if not before or tonumber(before) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[2], last, ARGV[3]) end
  local event = ARGV[2] .. ':' .. ARGV[3]
  local bytes = #ARGV[4] - redis.call('HSTRLEN', KEYS[3], event)
  if redis.call('HSET', KEYS[3], event, ARGV[4]) == 1 then
    redis.call('RPUSH', KEYS[4], event)
    redis.call('HINCRBY', KEYS[2], count, 1)
  end
  bytes = redis.call('HINCRBY', KEYS[2], 'b', bytes)
  while redis.call('LLEN', KEYS[4]) > tonumber(ARGV[6]) or bytes > tonumber(ARGV[7]) do
    local oldest = redis.call('LPOP', KEYS[4])
    if not oldest then break end
    bytes = redis.call('HINCRBY', KEYS[2], 'b', -redis.call('HSTRLEN', KEYS[3], oldest))
    redis.call('HDEL', KEYS[3], oldest)
    local stream = string.match(oldest, '^%d+')
    local left = redis.call('HINCRBY', KEYS[2], 'c' .. stream, -1)
    -- The session's own stream continues: its position must be known.
    if left == 0 and stream ~= '0' then
      redis.call('HDEL', KEYS[2], 'l' .. stream, 'c' .. stream, 'x' .. stream)
    end
  end
end
for key = 2, 4 do redis.call('PEXPIRE', KEYS[key], ARGV[8]) end
return 'ok'
