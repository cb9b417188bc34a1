// Geometries as well-known text or GeoJSON, and where they are on a flat map (Mercator).

const WKT = /(^|#)wktLiteral$/;
const BEGIN = /^\s*(?:<[^>]*>)?\s*(?:SRID=\d+;)?\s*(MULTI)?(POINT|LINESTRING|POLYGON)\s*(?:ZM?|M)?\s*\(/i;

const GEOJSON = /(^|#)geoJSONLiteral$/;

export const isShape = term => isWkt(term) || term?.type === 'literal' && GEOJSON.test(term.datatype || '');

/** A geometry in a format that is not drawn. */
export const isOtherShape = term => term?.type === 'literal' && /(^|#)(gml|kml|dggs)Literal$/.test(term.datatype || '');

/** Whether a literal says that there is nothing. */
export const isEmptyShape = term => (isOtherShape(term) ? !term.value.trim() : /^\s*(<[^>]*>\s*)?([a-z]+(\s+zm?|\s+m)?\s+EMPTY)?\s*$/i.test(term.value));

export const parseShape = term => (GEOJSON.test(term.datatype || '') ? parseGeoJson(term.value) : parseWkt(term.value));

function isWkt(term) {
  return term?.type === 'literal' && (WKT.test(term.datatype || '') || !term['xml:lang'] && term.value.length < 5e6 && BEGIN.test(term.value));
}

/** `{ type, points, rings }`; none where it is not understood, or out of the world. */
function parseWkt(text) {
  const head = text.match(BEGIN);
  if (!head) return null;
  // Places of other systems would be drawn where they are not.
  if (/^\s*</.test(text) && !/^\s*<[^>]*(CRS84|EPSG\/\d*(\.\d+)*\/?\/?4326)>/i.test(text)) return null;
  // EPSG:4326 has the latitude first; all else here, as CRS84 has it, the longitude.
  const isLatFirst = /EPSG\/\d*(\.\d+)*\/?\/?4326>/i.test(text.slice(0, head[0].length));
  const type = { POINT: 'point', LINESTRING: 'line', POLYGON: 'polygon' }[head[2].toUpperCase()];
  const body = text.slice(head[0].length - 1);
  if (!/^[\d\s.,()eE+-]*$/.test(body)) return null;
  const rings = [...body.matchAll(/\(([^()]*)\)/g)].map(found => found[1].split(',').map(pair => {
    const [x, y] = pair.trim().split(/\s+/).map(Number);
    return isLatFirst ? [y, x] : [x, y];
  }));
  return shapeOf(type, rings);
}

const GEOJSON_TYPES = { Point: ['point', 0], MultiPoint: ['point', 1], LineString: ['line', 1], MultiLineString: ['line', 2], Polygon: ['polygon', 2], MultiPolygon: ['polygon', 3] };

function parseGeoJson(text) {
  try {
    const { type, coordinates } = JSON.parse(text);
    const [kind, depth] = GEOJSON_TYPES[type];
    const rings = depth < 2 ? [depth ? coordinates : [coordinates]] : depth < 3 ? coordinates : coordinates.flat();
    return shapeOf(kind, rings.map(ring => ring.map(([x, y]) => [Number(x), Number(y)])));
  } catch {
    return null;
  }
}

function shapeOf(type, rings) {
  const all = rings.flat();
  if (!all.length || all.some(([x, y]) => !(Math.abs(x) <= 180 && Math.abs(y) <= 90))) return null;
  return type === 'point' ? { type, points: all, rings: [] } : { type, points: [], rings };
}

export const coordinatesOf = shape => (shape.type === 'point' ? shape.points.filter(([x, y]) => Math.abs(x) <= 180 && Math.abs(y) <= 90) : shape.rings.flat());

const LIMIT = 85;

/** Longitude and latitude as a place; a degree of longitude is 1. */
export function project([longitude, latitude]) {
  const angle = Math.max(-LIMIT, Math.min(LIMIT, latitude)) * Math.PI / 180;
  return [longitude, -Math.log(Math.tan(Math.PI / 4 + angle / 2)) * 180 / Math.PI];
}

export function unproject([x, y]) {
  return [x, (2 * Math.atan(Math.exp(-y * Math.PI / 180)) - Math.PI / 2) * 180 / Math.PI];
}
