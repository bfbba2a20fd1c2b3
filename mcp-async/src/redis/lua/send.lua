-- Sends a message to a process, or to all but one. KEYS: processes. ARGV: prefix of the inboxes, process, message,
-- messages at most, time to keep them, 1 for all others. Returns how many it was sent to, -1 if the inbox is full.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local to = {}
if ARGV[6] == '1' then
  for _, process in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do
    if process ~= ARGV[2] then to[#to + 1] = process end
  end
else
  local lease = redis.call('ZSCORE', KEYS[1], ARGV[2])
  if lease and tonumber(lease) > now then to[1] = ARGV[2] end
end
local sent = 0
for _, process in ipairs(to) do
  local inbox = ARGV[1] .. process
  if redis.call('LLEN', inbox) < tonumber(ARGV[4]) then
    redis.call('RPUSH', inbox, ARGV[3])
    redis.call('PEXPIRE', inbox, ARGV[5])
    sent = sent + 1
  elseif ARGV[6] ~= '1' then
    return -1
  end
end
return sent
